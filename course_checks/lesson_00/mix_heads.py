"""0.5 · Mix in every head, and lay the heads side by side."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import ATTENTION, HEADS, MATRIX_PRODUCTS

SIZES = ((2, 3, 5, 7, 4), (3, 2, 4, 2, 6), (3, 3, 3, 3, 3), (2, 4, 1, 1, 3), (1, 2, 4, 5, 3), (2, 1, 5, 4, 7))


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    weights = torch.tensor([[[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.25, 0.75]]]])
    made = [Case(weights=weights, values=torch.tensor([[[[2.0], [4.0]], [[10.0], [20.0]]]]))]
    for B, H, n, m, d in SIZES:
        made.append(Case(**_weights_and_values(B, H, n, m, d, rng, torch.float32)))
    return [*made, Case(**_weights_and_values(2, 2, 3, 4, 3, rng, torch.float64))]


def _weights_and_values(B, H, n, m, d, rng, dtype):
    """Weights that don't sum to 1, so that nobody is right who divides by their sum."""
    weights = torch.rand(B, H, n, m, generator=rng, dtype=dtype)
    return {"weights": weights, "values": torch.randn(B, H, m, d, generator=rng, dtype=dtype)}


EXERCISE = Exercise(
    cases,
    returns=("mixture",),
    off_limits=(*MATRIX_PRODUCTS, *HEADS, *ATTENTION),
    advice="name the axes: weights are b h i j, values are b h j d; j goes away, and h and d must end up as neighbors.",
)
