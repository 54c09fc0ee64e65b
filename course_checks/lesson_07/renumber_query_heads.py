"""7.3 · Weights from a model with other partners."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(heads, kv, d_head, d_in, d_out, dtype=torch.float32, label=()):
        W_q = torch.randn(heads * d_head, d_in, generator=rng, dtype=dtype)
        W_o = torch.randn(d_out, heads * d_head, generator=rng, dtype=dtype)
        return Case(*label, W_q=W_q, W_o=W_o, num_heads=heads, num_kv_heads=kv)

    counted = torch.arange(6.0)[:, None]
    return [
        Case(W_q=counted, W_o=10.0 + counted.T, num_heads=6, num_kv_heads=2),
        case(6, 2, 3, 5, 4),
        case(6, 3, 2, 7, 5),
        case(12, 3, 2, 24, 24),
        case(8, 2, 4, 6, 9, torch.float64),
        case(4, 4, 3, 5, 7, label=("nothing is shared",)),
        case(5, 1, 2, 3, 4, label=("all share one",)),
        case(6, 2, 3, 5, 4),  # sizes seen before, other numbers
    ]


EXERCISE = Exercise(
    cases,
    returns=("query projection", "output projection"),
    gradients=True,
    advice="with 6 heads of size 1 and two of keys and values, W_q with the rows 0 to 5 must become 0 2 4 1 3 5.",
)
