"""2.6 · Find the bug."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed + 1)
    made = []
    for B, L_q, L_k, d, d_v in ((1, 2, 3, 2, 1), (2, 5, 7, 3, 4), (4, 3, 2, 6, 5), (3, 3, 3, 3, 3), (2, 5, 7, 3, 4)):
        dtype = torch.float64 if B == 4 else torch.float32
        shapes = {"query": (B, L_q, d), "key": (B, L_k, d), "value": (B, L_k, d_v)}
        drawn = {name: torch.randn(shape, generator=rng, dtype=dtype) / d**0.25 for name, shape in shapes.items()}
        made.append(Case(**drawn))
    query, key, value = (torch.randn(2, length, 4, generator=rng) for length in (3, 5, 5))
    return [*made, Case("the scores are large", query=80 * query, key=key, value=value, values_only=True)]


EXERCISE = Exercise(
    cases,
    returns=("output", "weights"),
    off_limits=("course_utils.attention.scaled_dot_product_attention",),
    gradients=True,
    advice="print weights.sum(dim=-1): it must be 1 for every query.",
)
