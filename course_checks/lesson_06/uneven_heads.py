"""6.5 · Find the bug: heads of different sizes."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import ATTENTION


def cases(seed):
    rng, made = torch.Generator().manual_seed(seed), []
    plan = ((1, 1, [1, 4]), (2, 5, [3, 1, 6]), (3, 6, [2, 2, 7, 1]), (2, 3, [9]), (2, 5, [1, 6, 3]), (2, 4, [3, 3, 3]))
    for B, L, sizes in plan:
        dtype = torch.float64 if B == 3 else torch.float32
        q, k, v = (1.5 * torch.randn(B, n, sum(sizes), generator=rng, dtype=dtype) for n in (L, L + 2, L + 2))
        made.append(Case(q=q, k=k, v=v, sizes=sizes))
    return made


EXERCISE = Exercise(
    cases,
    returns=("output", "weights"),
    off_limits=ATTENTION,
    gradients=True,
    advice="work out the example head by head: head 1 compares vectors of size 4, and its scores are 2.1972 / 2 and 0.",
)
