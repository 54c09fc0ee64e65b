"""15.1 · The weights of one rank."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import MODULES


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(d_model, d_head, heads, shared, rank, ranks, *labels, dtype=torch.float32):
        rows = (heads * d_head, shared * d_head, shared * d_head)
        q, k, v = (torch.randn(number, d_model, generator=rng, dtype=dtype) for number in rows)
        o = torch.randn(d_model, heads * d_head, generator=rng, dtype=dtype)
        return Case(*labels, q=q, k=k, v=v, o=o, num_heads=heads, num_kv_heads=shared, rank=rank, P=ranks)

    several, copies = "a rank holds several key/value heads", "there are more ranks than key/value heads"
    return [
        case(3, 1, 4, 2, 1, 4, copies),
        case(5, 2, 4, 4, 1, 2, several),
        case(7, 3, 6, 2, 1, 2),
        case(9, 2, 8, 4, 1, 2, several),
        case(6, 2, 4, 4, 3, 4),
        case(5, 3, 8, 2, 1, 4, copies),
        case(5, 3, 8, 2, 2, 4, copies),
        case(7, 2, 6, 1, 2, 3, copies),
        case(7, 4, 6, 3, 0, 1, several),
        case(11, 2, 12, 6, 2, 3, several, dtype=torch.float64),
        case(7, 5, 12, 3, 5, 6, copies),
        case(5, 2, 8, 2, 3, 8, copies),
        case(6, 3, 12, 2, 2, 6, copies),
    ]


EXERCISE = Exercise(
    cases,
    returns=("part of q", "part of k", "part of v", "part of o"),
    off_limits=(MODULES + "tensor_parallel.HeadParallelAttention",),
    advice="write down for one rank the numbers of its query heads, then of the key/value heads that they use.",
)
