"""4.2 · Cross-attention."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import LARGE, large_scores

SIZES = (
    (1, 2, 3, 4, 4, 2, 1),
    (2, 5, 7, 6, 6, 3, 4),
    (2, 6, 4, 8, 5, 9, 7),
    (3, 4, 4, 5, 9, 6, 2),
    (2, 5, 3, 4, 4, 4, 4),
    (2, 5, 7, 6, 6, 3, 4),
)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = []
    for place, (B, L_q, L_k, d_x, d_m, d_k, d_v) in enumerate(SIZES):
        dtype = torch.float64 if place == 2 else torch.float32
        x, memory = (torch.randn(B, L, d, generator=rng, dtype=dtype) for L, d in ((L_q, d_x), (L_k, d_m)))
        W_q, W_k, W_v = (
            torch.randn(a, b, generator=rng, dtype=dtype) / a**0.5 for a, b in ((d_x, d_k), (d_m, d_k), (d_m, d_v))
        )
        made.append(Case(x=x, memory=memory, W_q=1.4 * W_q, W_k=1.2 * W_k, W_v=W_v))
    query, key = large_scores(rng)  # with projections that leave the vectors as they are
    W_v = torch.randn(16, 4, generator=rng)
    return [*made, Case(LARGE, values_only=True, x=query, memory=key, W_q=torch.eye(16), W_k=torch.eye(16), W_v=W_v)]


EXERCISE = Exercise(
    cases,
    returns=("output", "weights"),
    gradients=True,
    advice="check the pieces: queries (B, L_q, d_k) from x, keys (B, L_k, d_k) and values (B, L_k, d_v) from memory.",
)
