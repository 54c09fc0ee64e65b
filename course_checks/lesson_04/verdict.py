"""4.4 · Find the bug, and say when it shows."""

import torch

from ..deciding.exercise import Case, Exercise

NAMES = ("B", "L", "d_model", "d_k", "d_v")
SIZES = (
    (2, 9, 16, 16, 16),
    (2, 16, 16, 16, 16),
    (16, 40, 16, 16, 9),
    (3, 12, 20, 12, 7),
    (8, 5, 7, 8, 5),
    (4, 30, 64, 16, 64),
    (9, 8, 6, 9, 4),
    (2, 6, 6, 4, 6),
    (1, 7, 5, 9, 6),
    (3, 5, 6, 1, 4),
)
ALONE = ((4, 1, 8, 6, 3), (1, 1, 5, 1, 5), (6, 1, 1, 6, 1))


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    drawn = torch.randint(2, 24, (16, len(NAMES)), generator=rng).tolist()
    equal = [[B, d_k, d_model, d_k, d_v] for B, _, d_model, d_k, d_v in drawn[:4]]
    made = [Case(**dict(zip(NAMES, sizes, strict=True))) for sizes in (*SIZES, *drawn, *equal)]
    return [*made, *(Case("there is one token", **dict(zip(NAMES, sizes, strict=True))) for sizes in ALONE)]


EXERCISE = Exercise(
    cases,
    returns=("verdict",),
    advice="make the layer with these sizes, and compare its weights with PyTorch's for some x of this shape.",
)
