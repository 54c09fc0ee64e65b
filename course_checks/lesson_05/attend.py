"""5.8 · Find the bug: padding that is still seen."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import ATTENTIONS, low_scores


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for B, H, L_q, L_k, d_k, d_v, dtype in (
        (1, 2, 3, 3, 4, 2, torch.float32),
        (2, 4, 6, 6, 3, 5, torch.float32),
        (3, 2, 5, 7, 4, 3, torch.float64),
        (3, 2, 5, 7, 4, 3, torch.float64),  # sizes seen before, other numbers
    ):
        keep = torch.arange(L_k) < torch.tensor([L_k - 1, 2, L_k - 3])[:B, None]
        keep = keep.flip(-1) if len(made) == 3 else keep
        query, key, value = (
            torch.randn(B, H, *rest, generator=rng, dtype=dtype) for rest in ((L_q, d_k), (L_k, d_k), (L_k, d_v))
        )
        made.append(Case(query=query, key=key, value=value + 9.0 * ~keep[:, None, :, None], keep=keep))
    query, key, value = torch.randn(3, 2, 2, 4, 3, generator=rng)
    keep = torch.tensor([[True, True, True, False], [False, True, True, True]])
    made.append(Case("B equals H and L_q equals L_k", query=query, key=key, value=value, keep=keep))
    high = torch.where(keep[:, None, :, None], key, 100.0)
    far_higher = {"query": query.abs(), "key": high, "value": value, "keep": keep}
    query, key = low_scores((2, 3), 5, 4, rng)
    low = {"query": query, "key": key, "value": torch.randn(2, 3, 4, 2, generator=rng), "keep": keep}
    return [
        *made,
        Case("hidden scores are far higher", values_only=True, **far_higher),
        Case("all scores are near -100000", values_only=True, **low),
    ]


EXERCISE = Exercise(
    cases,
    returns=("output", "weights"),
    off_limits=tuple(name for name in ATTENTIONS if "softmax" not in name),
    gradients=True,
    advice="print mask.shape and the row of weights of a real token: where keep is False it must be 0.",
)
