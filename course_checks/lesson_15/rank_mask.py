"""15.8 · Find the bug: a mask by place instead of position."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import LAYOUTS, RINGS, from_both_ends, in_a_row, shuffled


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    row = "the tokens are in a row"
    return [
        Case(rank=1, positions=torch.tensor([[0, 3], [1, 2]]), window=2),
        Case(row, rank=0, positions=in_a_row(9, 3), window=3),
        Case(row, rank=2, positions=in_a_row(12, 3), window=6),
        Case(rank=0, positions=from_both_ends(8, 2), window=3),
        Case(rank=2, positions=from_both_ends(18, 3), window=5),
        Case(rank=1, positions=shuffled(12, 3, rng), window=4),
        Case(rank=3, positions=shuffled(20, 4, rng), window=7),
        Case("the text is long", rank=1, positions=shuffled(280, 2, rng), window=150),
        Case("the window is 1", rank=1, positions=shuffled(10, 2, rng), window=1),
        Case("the window is longer than the text", rank=0, positions=shuffled(15, 5, rng), window=40),
        Case("the window is longer than the text", rank=2, positions=from_both_ends(12, 3), window=12),
    ]


EXERCISE = Exercise(
    cases,
    returns=("mask",),
    off_limits=LAYOUTS + RINGS,
    advice="for the example, write the position of every query beside its row and that of every key above its column.",
)
