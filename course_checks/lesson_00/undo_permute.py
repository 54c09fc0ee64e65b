"""0.4 · Undo a permute."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(x=torch.arange(6.0).view(1, 2, 3).permute(1, 2, 0).contiguous(), order=(1, 2, 0))]
    for axes in ("201", "10", "3021", "021", "120", "2310", "30412", "201"):
        order, sizes = tuple(map(int, axes)), (3, 3, 3) if axes == "120" else (2, 4, 3, 1, 5)[: len(axes)]
        made.append(Case(x=torch.randn(sizes, generator=rng).permute(order).contiguous(), order=order))
    return made


EXERCISE = Exercise(
    cases,
    returns=("original",),
    advice="write order down with its places 0, 1, 2 above it, and read the two lines from bottom to top.",
)
