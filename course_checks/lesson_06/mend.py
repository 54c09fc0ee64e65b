"""6.2 · Undo a wrong split."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import HEADS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    # The last one was seen before.
    sizes = (
        (2, 4, 5, 3),
        (3, 2, 7, 6),
        (4, 6, 3, 2),
        (2, 3, 3, 5),
        (2, 1, 4, 5),
        (2, 4, 5, 3),
    )
    example = torch.tensor([[0.0, 1.0], [10.0, 11.0], [20.0, 21.0]]).reshape(1, 2, 3, 1)
    double = torch.randn(2, 3, 4, 2, generator=rng, dtype=torch.float64)
    return [Case(heads=example), *(Case(heads=torch.randn(*size, generator=rng)) for size in sizes), Case(heads=double)]


EXERCISE = Exercise(
    cases,
    returns=("heads",),
    off_limits=HEADS,
    gradients=True,
    advice="print the x that you get back from the example: it must be [[0, 1], [10, 11], [20, 21]].",
)
