"""13.3 · A head as two matrices, with grouped heads."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import MATRICES


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(d_model, d_head, heads, shared, head, *labels, dtype=torch.float32):
        rows = (
            (heads * d_head, d_model),
            (shared * d_head, d_model),
            (shared * d_head, d_model),
            (d_model, heads * d_head),
        )
        q, k, v, o = (torch.randn(*size, generator=rng, dtype=dtype) for size in rows)
        return Case(*labels, q=q, k=k, v=v, o=o, head=head, num_heads=heads, num_kv_heads=shared)

    grouped, one_each = "several query heads share a key/value head", "every query head has its own key/value head"
    return [
        case(2, 4, 2, 2, 1, one_each),
        case(5, 3, 2, 1, 1, grouped),
        case(6, 2, 3, 3, 0, one_each),
        case(7, 2, 6, 2, 1, grouped),
        case(7, 2, 6, 2, 3, grouped),
        case(7, 2, 6, 2, 4, grouped),
        case(8, 5, 6, 3, 4, grouped),
        case(8, 4, 8, 2, 5, grouped, dtype=torch.float64),
        case(9, 3, 3, 3, 2, one_each),
    ]


EXERCISE = Exercise(
    cases,
    returns=("QK", "OV"),
    off_limits=MATRICES,
    advice="print the shape of each slice: the query head's rows of q are (d_head, d_model), its columns of o (d_model, d_head).",
)
