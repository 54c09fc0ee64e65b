"""Merge the heads."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.heads import MERGE_FAULTS, merge


def merge_heads(x, *, merge=merge):
    """``(B, H, L, d_head)`` to ``(B, L, H * d_head)``."""
    return merge(x)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = ((2, 4, 5, 3), (3, 2, 7, 6), (4, 6, 3, 2), (2, 1, 4, 5), (2, 4, 5, 3))  # the last one seen before
    example = torch.tensor([[[[0.0, 1.0], [10.0, 11.0]], [[2.0, 3.0], [12.0, 13.0]]]])
    double = torch.randn(2, 3, 4, 2, generator=rng, dtype=torch.float64)
    return [Case(x=example), *(Case(x=torch.randn(*size, generator=rng)) for size in sizes), Case(x=double)]


EXERCISE = Exercise(
    answer="merge_heads", cases=_cases, reference=merge_heads, returns=("merged",),
    faults=(
        *(fault for fault in MERGE_FAULTS if fault.name != "not joined"),
        Fault("not joined", "the heads were not joined: they still have an axis of their own, in the right place.",
            "join the last two axes, (H, d_head), to one: .flatten(2).", merge=lambda x: x.transpose(1, 2)),
        Fault("stacked on a new axis", "the heads stand on a new last axis: (B, L, d_head, H).", "join them along the "
            "features that are there: torch.cat, not torch.stack.", merge=lambda x: x.permute(0, 2, 3, 1)),
        Fault("items joined", "list(x) has the items of the batch: these were joined, not the heads.",
            "take the heads apart, x.unbind(1), and join those.", merge=lambda x: torch.cat(list(x), -1)),
        Fault("tokens taken for heads", "x is read as (B, L, H, d_head): that is right only where L and H are equal.",
            "the heads come second: B, H, L, d_head = x.shape.",
            merge=lambda x: x.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1)),
    ),
    advice="try merge_heads on the result of your split_heads: it must give the input back.",
)  # fmt: skip
