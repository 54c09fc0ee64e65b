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


def _half_mended(key_axis, value_axis, inner=True):
    """The function of the task with some of its three places mended: the cut, the axis of the keys, that of the values."""

    def answer(query, key, value, mask):
        B, H, L_q, d_k = query.shape
        H_kv = key.shape[1]
        q = query.reshape(B, H_kv, H // H_kv, L_q, d_k) if inner else query.reshape(B, H // H_kv, H_kv, L_q, d_k)
        scores = q @ key.unsqueeze(key_axis).transpose(-2, -1) / d_k**0.5
        weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(dim=-1)
        return (weights @ value.unsqueeze(value_axis)).reshape(B, H, L_q, value.shape[-1])

    return answer


_INNER = (
    "cut the axis of the query heads in two so that neighbors share a row: the group is the second of the two axes."
)
_ALL_THREE = (
    "each new axis of size 1 stands where the queries have their group: behind the heads of keys and of values."
)
_WORDS = {  # this task repeats nothing
    "repeat": "query head h meets key/value head h % H_kv, in the order 0 1 0 1; it should be 0 0 1 1.",
    "repeat for the keys": "the query heads meet the keys in the order 0 1 0 1, and the values in the order 0 0 1 1.",
    "repeat for the values": "the query heads meet the values in the order 0 1 0 1, and the keys in the order 0 0 1 1.",
}

EXERCISE = Exercise(
    answer="grouped_attention", cases=_cases, reference=grouped, returns=("output",), faults=(
        *(Fault(fault.name, _WORDS.get(fault.name, fault.looks_like),
                _INNER if fault.name in _WORDS or "repeat_interleave" in fault.advice else fault.advice, **fault.parts)
          for fault in SHARING_FAULTS),
        *MASK_FAULTS, *WEIGHT_FAULTS,
        *(Fault(name, f"{said}: there the query heads of one group still meet several key/value heads.", _ALL_THREE,
                whole=_half_mended(*axes)) for name, said, axes in (
            ("only the cut mended", "the queries are cut right, but keys and values have their new axis before their heads",
             (1, 1)),
            ("values not mended", "queries and keys fit now, but the values have their new axis before their heads", (2, 1)),
            ("keys not mended", "queries and values fit now, but the keys have their new axis before their heads", (1, 2)))),
        Fault("cut not mended", "keys and values have their new axis behind their heads, but the queries are cut as before.",
              _INNER, whole=_half_mended(2, 2, inner=False)),
        Fault("root of d_v", "the scores are divided by the root of d_v, the size of a value, which has no part in "
              "them.", "divide by query.shape[-1] ** 0.5.", divisor=lambda q, k, v: v.shape[-1] ** 0.5),
        Fault("query heads moved", "each query head meets the right key/value head, but the output heads are out of order.",
              f"{_INNER} Then no head has to move.", whole=_moved),
        Fault("output heads moved", "the output heads are moved, while each query still meets another group's keys.",
              f"{_INNER} Then no head has to move.", whole=partial(_moved, queries=False)),
    ), advice="fill value head j with the number j: output head h must then be h // (H / H_kv).",
)  # fmt: skip
