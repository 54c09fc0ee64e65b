"""2.5 · Additive attention."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made, names = [], ("query", "key", "value", "W_q", "W_k", "w_v")
    sizes = ((1, 2, 3, 5, 2, 4, 1), (2, 5, 7, 3, 4, 6, 8), (3, 4, 2, 6, 5, 3, 2), (2, 3, 3, 4, 4, 4, 4))
    for B, L_q, L_k, d_q, d_k, d_hidden, d_v in (*sizes, sizes[1]):
        shapes = ((B, L_q, d_q), (B, L_k, d_k), (B, L_k, d_v), (d_hidden, d_q), (d_hidden, d_k), (d_hidden,))
        dtype = torch.float64 if B == 3 else torch.float32
        drawn = (torch.randn(shape, generator=rng, dtype=dtype) for shape in shapes)
        arguments = dict(zip(names, drawn, strict=True))
        arguments["W_q"] *= 1.2 / d_q**0.5
        arguments["W_k"] *= 1.2 / d_k**0.5
        made.append(Case(**arguments))
    large = made[2] | {"w_v": 2000 * made[2]["w_v"]}
    return [*made, Case("the scores are very large", **large, values_only=True)]


EXERCISE = Exercise(
    cases,
    returns=("output", "weights"),
    off_limits=("course_utils.attention.AdditiveAttention",),
    gradients=True,
    atol=2e-5,
    advice="print the shapes: two projections, then (B, L_q, L_k, d_hidden), then the scores (B, L_q, L_k).",
)
