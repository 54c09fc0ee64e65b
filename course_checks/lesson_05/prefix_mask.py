"""5.4 · A prefix."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import MASKS

SEVERAL = "the batch has more than one item"


def cases(seed):
    some = 2 + torch.randperm(5, generator=torch.Generator().manual_seed(seed))[:3]
    return [
        Case(SEVERAL, prefix=torch.tensor([2, 0]), L=3),
        Case(prefix=torch.tensor([3]), L=5),
        Case(SEVERAL, prefix=torch.tensor([1, 4, 2]), L=6),
        Case(SEVERAL, prefix=some, L=8),
        Case(SEVERAL, prefix=some.flip(0), L=8),
        Case(SEVERAL, "B equals L", prefix=torch.tensor([0, 3, 2, 1]), L=4),
        Case(SEVERAL, "the prefix fills the row", prefix=torch.tensor([5, 4]), L=5),
        Case(SEVERAL, "nothing was given", prefix=torch.tensor([0, 0]), L=4),
    ]


EXERCISE = Exercise(
    cases,
    returns=("mask",),
    off_limits=MASKS,
    advice="write down the mask for prefix 2 and L 4 by hand: two rows are alike, then a triangle goes on.",
)
