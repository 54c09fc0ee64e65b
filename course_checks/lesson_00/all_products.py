"""0.5 · All pairs, in every sentence and head."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import MATRIX_PRODUCTS, SIMILARITIES

SIZES = ((2, 3, 5, 7, 4), (3, 2, 4, 2, 6), (3, 3, 3, 3, 3), (2, 4, 1, 1, 3), (1, 2, 4, 5, 3), (2, 3, 5, 4, 7))


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    y = torch.tensor([[[[3.0, 4], [5, 7]]], [[[1, 1], [2, 6]]]])
    made = [Case(x=torch.tensor([[[[1.0, 2.0]]], [[[3.0, 0.0]]]]), y=y)]
    for B, H, n, m, d in SIZES:
        made.append(Case(x=torch.randn(B, H, n, d, generator=rng), y=torch.randn(B, H, m, d, generator=rng)))
    return made


EXERCISE = Exercise(
    cases,
    returns=("products",),
    off_limits=(*MATRIX_PRODUCTS, *SIMILARITIES),
    advice="name the axes: x is b h i d, y is b h j d, and the result keeps all but d.",
)
