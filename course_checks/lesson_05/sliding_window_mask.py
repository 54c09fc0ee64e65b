"""5.6 · A sliding window."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import MASKS


def cases(seed):
    L_q = int(torch.randint(5, 8, (), generator=torch.Generator().manual_seed(seed)))
    sizes = ((3, 3, 2), (4, 4, 2), (2, 6, 3), (5, 7, 1), (4, 4, 3), (L_q, L_q + 2, 4), (3, 5, 9), (2, 5, 3))
    return [Case(L_q=L_q, L_k=L_k, window=window) for L_q, L_k, window in sizes]


EXERCISE = Exercise(
    cases,
    returns=("mask",),
    off_limits=MASKS,
    advice="count the True entries of the last row: there must be min(window, L_k).",
)
