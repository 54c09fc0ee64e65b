"""7.5 · From multi-head to grouped-query."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [Case(weight=torch.tensor([[1.0], [3.0], [10.0], [20.0]]), num_heads=4, num_kv_heads=2)]
    sizes = ((12, 7, 4, 2), (24, 10, 6, 2), (18, 5, 6, 3), (10, 6, 5, 1), (8, 9, 4, 4), (12, 7, 4, 2), (36, 5, 12, 2))
    sizes = (*sizes, (8, 8, 4, 2), (8, 4, 2, 2))  # square, and tall with nothing to pool
    for index, (rows, d_in, num_heads, num_kv_heads) in enumerate(sizes):
        weight = torch.randn(rows, d_in, generator=rng, dtype=torch.float64 if index == 3 else torch.float32)
        made.append(Case(weight=weight, num_heads=num_heads, num_kv_heads=num_kv_heads))
    return made


EXERCISE = Exercise(
    cases,
    returns=("pooled weight",),
    gradients=True,
    advice="pool the rows [1], [3], [10], [20] of four heads with d_head 1 into two: it must give [2] and [15].",
)
