"""Find the bug: heads merged without the transpose back."""

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.heads import FACTOR_FAULTS, MERGE_FAULTS, SPLIT_FAULTS, WEIGHING_FAULTS, merge, split


def self_attention(
    x, num_heads, *, split=split, factor=lambda q, k, query: q.shape[-1] ** -0.5, weigh=lambda scores: scores.softmax(-1),
    merge=merge, join=lambda weights, heads, x, merge: merge(weights @ heads),
):  # fmt: skip
    """Self-attention without projections; each keyword is one step. Returns output and weights."""
    heads = split(x, num_heads)
    weights = weigh(heads @ heads.mT * factor(heads, heads, x))
    return join(weights, heads, x, merge), weights


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = ((1, 2, 4, 2), (2, 5, 12, 4), (3, 7, 10, 2), (2, 4, 6, 1), (2, 5, 12, 4))  # the last one seen before
    dtypes = (torch.float32, torch.float32, torch.float64, torch.float32, torch.float32)
    return [
        Case(x=0.8 * torch.randn(B, L, d, generator=rng, dtype=dtype), num_heads=H)
        for (B, L, d, H), dtype in zip(sizes, dtypes, strict=True)
    ]


_LEAVE = "leave the split as it was, and transpose back in the merge."
_OTHER = ("no scaling", "divided by d_head", "root of d_model", "root of L_k", "root of H")

EXERCISE = Exercise(
    answer="self_attention", cases=_cases, reference=self_attention, returns=("output", "weights"),
    faults=(
        *MERGE_FAULTS,
        *(fault for fault in SPLIT_FAULTS if fault.name in ("straight view", "interleaved", "nothing cut")),
        Fault("one average", "the mean of the heads' weights meets the whole tokens: all heads share one average.",
            "each head averages its own features by its own weights: weights @ heads, then the merge.",
            join=lambda weights, heads, x, merge: weights.mean(1) @ x),
        Fault("no transpose at all", "no transpose at all: the round trip holds, but each head sees a piece of the "
            "sequence.", _LEAVE, split=lambda x, n: x.reshape(x.shape[0], n, x.shape[1], -1),
            merge=lambda x: x.reshape(x.shape[0], x.shape[2], -1)),
        Fault("one head", "one head of full width, whatever num_heads says.", _LEAVE, split=lambda x, n: x[:, None],
            merge=lambda x: x[:, 0]),
        *(fault for fault in FACTOR_FAULTS if fault.name in _OTHER),
        *WEIGHING_FAULTS,
    ),
    advice="with equal tokens every output must be that token; print the heads, the merged tensor, and compare.",
)  # fmt: skip
