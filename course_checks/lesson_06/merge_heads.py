"""6.2 · Merge the heads."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import HEADS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = ((2, 4, 5, 3), (3, 2, 7, 6), (4, 6, 3, 2), (2, 1, 4, 5), (2, 4, 5, 3))  # the last one seen before
    example = torch.tensor([[[[0.0, 1.0], [10.0, 11.0]], [[2.0, 3.0], [12.0, 13.0]]]])
    double = torch.randn(2, 3, 4, 2, generator=rng, dtype=torch.float64)
    return [Case(x=example), *(Case(x=torch.randn(*size, generator=rng)) for size in sizes), Case(x=double)]


EXERCISE = Exercise(
    cases,
    returns=("merged",),
    off_limits=HEADS,
    gradients=True,
    advice="try merge_heads on the result of your split_heads: it must give the input back.",
)
