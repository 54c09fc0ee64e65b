"""5.3 · Packed documents."""

import torch
import torch.nn.functional as F

from ..deciding.exercise import Case, Exercise
from .common import MASKS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def row(*lengths, padding=0, left=0):
        names = 1 + torch.randperm(9, generator=rng)[: len(lengths)]
        return F.pad(names.repeat_interleave(torch.tensor(lengths)), (left, padding))

    return [
        Case(document=torch.tensor([[2, 2, 1, 0]])),
        Case(document=torch.stack([row(3, 2, 1, padding=1), row(2, 2, 3), row(5, padding=2)])),
        Case(document=torch.stack([row(1, 4), row(2, 1, 2)])),
        Case(document=torch.stack([row(3, 2, padding=4), row(4, 3, 2)])),
        Case("padding stands on the left", document=torch.stack([row(2, 3, left=2), row(1, 4, left=1, padding=1)])),
        Case("padding stands between documents", document=torch.tensor([[7, 7, 0, 0, 3, 3, 3, 0]])),
        Case("one document fills the row", document=row(6)[None]),
    ]


EXERCISE = Exercise(
    cases,
    returns=("mask", "positions"),
    off_limits=MASKS,
    advice="write down the mask of [[2, 2, 1, 0]] by hand, and compare row by row.",
)
