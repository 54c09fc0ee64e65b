"""6.4 · The same by einsum."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import ATTENTION, HEADS


def cases(seed):
    rng, made = torch.Generator().manual_seed(seed), []
    plan = ((1, 2, 4, 3, 5, 6, 7), (2, 5, 7, 10, 4, 3, 6), (3, 6, 4, 5, 2, 8, 7), (2, 4, 6, 9, 3, 5, 8))
    for B, L_q, L_k, d_in, H, d_head, d_v in (*plan, plan[1]):  # the last: sizes seen before, other numbers
        dtype = torch.float64 if B == 3 else torch.float32
        query, memory = (torch.randn(B, L, d_in, generator=rng, dtype=dtype) for L in (L_q, L_k))
        W_q, W_k, W_v = (
            1.2 * torch.randn(H * size, d_in, generator=rng, dtype=dtype) / d_in**0.5 for size in (d_head, d_head, d_v)
        )
        made.append(Case(query=query, memory=memory, W_q=W_q, W_k=W_k, W_v=W_v, num_heads=H))
    large = Case("the scores are very large", values_only=True, **(made[2] | {"query": 2000 * made[2]["query"]}))
    return [*made, large]


EXERCISE = Exercise(
    cases,
    returns=("output", "weights"),
    off_limits=(*HEADS, *ATTENTION),
    gradients=True,
    advice="name each axis by a letter, write the shape of each tensor beside its line, and sum the weights over L_k.",
)
