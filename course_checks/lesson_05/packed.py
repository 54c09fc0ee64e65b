"""5.3 · Packed texts, from their lengths."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import MASKS


def cases(seed):
    drawn = 1 + torch.randint(4, (2, 3), generator=torch.Generator().manual_seed(seed))
    return [
        Case(lengths=torch.tensor([[2, 1]]), L=4),
        Case(lengths=torch.tensor([[3, 2, 1], [2, 2, 3], [1, 1, 4]]), L=8),
        Case(lengths=drawn, L=13),
        Case(lengths=drawn.flip(0, 1), L=13),
        Case("rows hold fewer texts than others", lengths=torch.tensor([[4, 2, 0], [5, 0, 0], [1, 3, 2]]), L=7),
        Case("the texts fill the row", lengths=torch.tensor([[2, 3], [1, 4]]), L=5),
        Case("one text fills the row", lengths=torch.tensor([[6]]), L=6),
        Case("all texts have one token", lengths=torch.tensor([[1, 1, 1]]), L=3),
    ]


EXERCISE = Exercise(
    cases,
    returns=("mask", "positions", "asked"),
    off_limits=MASKS,
    advice="work out lengths [2, 1] in a row of 4 by hand: where does each text begin, and where does it end?",
)
