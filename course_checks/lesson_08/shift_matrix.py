"""8.2 · The shift matrix."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import POSITIONS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    far, near = (int(torch.randint(low, high, (), generator=rng)) for low, high in ((20, 40), (3, 9)))
    made = [Case(delta=delta, d_model=d) for delta, d in ((1, 2), (3, 6), (far, 10), (near, 6))]
    made += [Case("`delta` is negative", delta=delta, d_model=d) for delta, d in ((-2, 4), (-5, 8))]
    made += [Case("`delta` is a fraction", delta=delta, d_model=d) for delta, d in ((0.5, 8), (2.75, 4))]
    return [*made, Case("`delta` is 0", delta=0, d_model=4)]


EXERCISE = Exercise(
    cases,
    returns=("matrix",),
    off_limits=POSITIONS,
    atol=1e-4,  # float32 angles are fine
    twice=False,  # who solves for the matrix gets another one each time, though nothing is kept
    advice="test one pair: shift_matrix(1, 2) @ [0, 1] must be [sin 1, cos 1], and delta = 0 must give the identity.",
)
