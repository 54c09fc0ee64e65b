"""0.6 · Split a dimension into heads."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(x=torch.arange(8.0).view(1, 2, 4), num_heads=2)]
    for B, L, H, d_head in ((2, 5, 3, 4), (3, 4, 2, 6), (2, 3, 6, 1), (4, 6, 1, 5), (2, 3, 2, 2), (3, 2, 4, 5)):
        made.append(Case(x=torch.randn(B, L, H * d_head, generator=rng), num_heads=H))
    return made


EXERCISE = Exercise(
    cases,
    returns=("heads",),
    off_limits=("course_utils.multi_head.split_heads",),
    advice="try x = torch.arange(8).view(1, 2, 4) with 2 heads: head 0 must hold [[0, 1], [4, 5]].",
)
