"""4.1 · Scaled dot-product attention."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import ATTENTION
from .common import LARGE, large_scores


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    key = torch.tensor([[[3.0, 1.0, 1.0, 1.0], [1.0, 3.0, 3.0, 3.0]]]).log()
    made = [Case(query=torch.tensor([[[2.0, 0.0, 0.0, 0.0]]]), key=key, value=torch.tensor([[[8.0], [4.0]]]))]
    sizes = (((2,), 5, 7, 3, 6), ((3,), 6, 4, 9, 2), ((1,), 4, 4, 6, 5), ((2, 4), 5, 7, 3, 6), ((2,), 5, 7, 3, 6))
    for place, (lead, L_q, L_k, d_k, d_v) in enumerate(sizes):
        # In float64 the root of d_k is a whole number, so torch.sqrt(torch.tensor(d_k)), which is float32, is exact.
        dtype = torch.float64 if place == 1 else torch.float32
        query, key, value = (
            torch.randn(*lead, *shape, generator=rng, dtype=dtype) for shape in ((L_q, d_k), (L_k, d_k), (L_k, d_v))
        )
        made.append(Case(query=query, key=key, value=value))
    query, key = large_scores(rng)
    return [*made, Case(LARGE, values_only=True, query=query, key=key, value=torch.randn(2, 5, 4, generator=rng))]


EXERCISE = Exercise(
    cases,
    returns=("output", "weights"),
    off_limits=ATTENTION,
    gradients=True,
    advice="print weights.sum(dim=-1): all ones. Then compare scores[0, 0, 0] with one dot product over d_k ** 0.5.",
)
