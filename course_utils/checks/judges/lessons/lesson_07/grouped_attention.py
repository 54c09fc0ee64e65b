"""Find the bug: grouped-query attention on heads that are split already."""

from functools import partial

import torch

from course_utils.masks import causal_mask

from ...exercise import Case, Exercise, Fault
from ...kit.grouped import MASK_FAULTS, SHARING_FAULTS, WEIGHT_FAULTS, grouped, tiled


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, heads, kv_heads, L_q, L_k, d_k, d_v, causal=False, dtype=torch.float32):
        sizes = {"query": (heads, L_q, d_k), "key": (kv_heads, L_k, d_k), "value": (kv_heads, L_k, d_v)}
        tensors = {name: torch.randn(batch, *size, generator=rng, dtype=dtype) for name, size in sizes.items()}
        if causal:
            return Case(**tensors, mask=causal_mask(L_q, L_k))
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
    ]


def _moved(query, key, value, mask, queries=True):
    sizes = (-1, query.shape[1] // key.shape[1]) if queries else (-1, key.shape[1])
    order = torch.arange(query.shape[1]).view(sizes).T.flatten()
    output = grouped(query[:, order] if queries else query, key, value, mask, share_k=tiled, share_v=tiled)
    return output if queries else output[:, order]


EXERCISE = Exercise(
    answer="grouped_attention", cases=_cases, reference=grouped, returns=("output",), faults=(
        *SHARING_FAULTS, *MASK_FAULTS, *WEIGHT_FAULTS,
        Fault("root of d_v", "the scores are divided by the root of d_v, the size of a value, which has no part in "
              "them.", "divide by query.shape[-1] ** 0.5.", divisor=lambda q, k, v: v.shape[-1] ** 0.5),
        Fault("query heads moved", "the query heads are moved to fit the order of `repeat`, and the output heads are "
              "now out of order.", "leave the queries alone, share the key/value heads in another way.", whole=_moved),
        Fault("output heads moved", "the output heads are moved, while each query still meets another group's keys.",
              "leave the output alone, share the key/value heads in another way.", whole=partial(_moved, queries=False)),
    ), advice="fill value head j with the number j: output head h must then be h // (H / H_kv).",
)  # fmt: skip
