"""7.6 · Find the bug."""

import torch

from course_utils.masks import causal_mask

from ..deciding.exercise import Case, Exercise
from .common import READY_MADE


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, heads, kv_heads, L_q, L_k, d_k, d_v, causal=False, dtype=torch.float32, label=(), size=1.0):
        sizes = {"query": (heads, L_q, d_k), "key": (kv_heads, L_k, d_k), "value": (kv_heads, L_k, d_v)}
        tensors = {name: torch.randn(batch, *shape, generator=rng, dtype=dtype) for name, shape in sizes.items()}
        tensors["query"] *= size
        if causal:
            return Case(*label, values_only=size > 1.0, **tensors, mask=causal_mask(L_q, L_k))
        mask = torch.rand(1, 1, L_q, L_k, generator=rng) < 0.5
        mask[..., 0, 1:3] = torch.tensor([False, True])  # query 0 sees a key of its future, and not all of its past
        mask |= torch.arange(L_k) % L_q == torch.arange(L_q)[:, None]  # every query sees a key, every key is seen
        return Case("the mask is not causal", **tensors, mask=mask)

    return [
        case(1, 4, 2, 2, 3, 2, 1, causal=True),
        case(2, 6, 2, 5, 7, 4, 3, causal=True),
        case(2, 6, 3, 3, 6, 5, 4, dtype=torch.float64),
        case(3, 4, 1, 3, 5, 4, 2),
        case(2, 6, 2, 5, 7, 4, 3),  # sizes seen before, other numbers
        case(2, 4, 4, 4, 4, 3, 5),
        case(2, 4, 2, 4, 4, 3, 2, causal=True, dtype=torch.float64, label=("the scores are large",), size=1000.0),
    ]


EXERCISE = Exercise(
    cases,
    returns=("output",),
    off_limits=READY_MADE,
    gradients=True,
    pairs=200,
    advice="fill value head j with the number j: output head h must then be h // (H / H_kv).",
)
