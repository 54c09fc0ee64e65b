"""5.1 · A padding mask."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import MASKS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    right = torch.randint(1, 9, (2, 7), generator=rng)
    right[0, 4:], right[1, 6:] = 0, 0
    left = torch.randint(0, 7, (3, 5), generator=rng)
    left[0, :2], left[2, :3], left[1, 2] = 9, 9, 0
    between = torch.tensor([[0, 3, 1, 2], [3, 0, 2, 1], [2, 2, 2, 2]])
    return [
        Case(tokens=torch.tensor([[5, 7, 0], [4, 0, 0]]), pad_id=0),
        Case(tokens=torch.tensor([[5, 0, 7], [0, 0, 4]]), pad_id=5),
        Case(tokens=right, pad_id=0),
        Case(tokens=torch.tensor([[6, 2, 4, 4]]), pad_id=4),
        Case("padding stands on the left", tokens=left, pad_id=9),
        Case("padding stands between real tokens", tokens=between, pad_id=2),
    ]


EXERCISE = Exercise(
    cases,
    returns=("mask",),
    off_limits=MASKS,
    advice="print mask.shape, and mask[0, 0, 0] next to tokens[0].",
)
