"""7.4 · Grouped-query attention with a mask."""

import torch

from course_utils.masks import causal_mask

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import HEADS
from .common import READY_MADE


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, length, heads, kv_heads, d_head, mask, *labels, size=1.0, dtype=torch.float32):
        d_model = heads * d_head
        rows = {"x": batch * length, "W_q": d_model, "W_k": kv_heads * d_head, "W_v": kv_heads * d_head, "W_o": d_model}
        drawn = {name: torch.randn(n, d_model, generator=rng, dtype=dtype) for name, n in rows.items()}
        x = drawn.pop("x").view(batch, length, d_model)
        weights = {name: 1.4 * weight / d_model**0.5 for name, weight in drawn.items()}
        weights["W_q"] *= size
        return Case(*labels, values_only=size > 1.0, x=x, **weights, num_heads=heads, num_kv_heads=kv_heads, mask=mask)

    def allowed(*shape):  # no row and no column is empty
        return (torch.rand(shape, generator=rng) < 0.5) | torch.eye(shape[-1], dtype=torch.bool)

    batch, heads = "the mask differs between sequences", "the mask differs between heads"
    higher = "a hidden score is higher by thousands than the allowed ones"
    above = "exp of a score is more than a float can hold"
    return [
        case(1, 3, 4, 2, 2, causal_mask(3)),
        case(2, 7, 6, 2, 5, causal_mask(7) & allowed(2, 1, 7, 7), batch),
        case(2, 4, 6, 3, 3, allowed(2, 6, 4, 4), batch, heads),
        case(3, 5, 4, 1, 3, causal_mask(5), dtype=torch.float64),
        case(2, 7, 6, 2, 5, allowed(7, 7)),  # sizes seen before, other numbers
        case(2, 4, 3, 3, 2, allowed(1, 1, 4, 4)),
        case(2, 6, 4, 2, 3, causal_mask(6), "the scores are large", dtype=torch.float64, size=80.0),
        case(1, 4, 4, 2, 3, torch.ones(4, 4) > 0, "the scores are large", above, dtype=torch.float64, size=1000.0),
        case(2, 5, 4, 2, 3, causal_mask(5), "the scores are large", higher, dtype=torch.float64, size=3000.0),
    ]


EXERCISE = Exercise(
    cases,
    returns=("output",),
    off_limits=(*READY_MADE, *HEADS),
    gradients=True,
    pairs=150,
    advice="compare with num_kv_heads = num_heads first: then nothing is shared and it must be lesson 06.",
)
