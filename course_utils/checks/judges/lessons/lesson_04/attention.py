"""Scaled dot-product attention."""

import torch

from ...exercise import Case, Exercise
from ...kit.attention import ATTENTION_FAULTS, attend


def _eighths(*shape, rng):
    """Multiples of 1/8, so that all ways to add up their products agree to the last bit."""
    return (8 * torch.randn(shape, generator=rng)).round() / 8


def _large_scores(rng):
    """Scores far above 100 in one row, far below -100 in the next; within a row they are of ordinary size."""
    query, key = _eighths(2, 3, 16, rng=rng), _eighths(2, 5, 16, rng=rng)
    query[..., 0] = torch.tensor([16.0, 0.0, -16.0])
    key[..., 0] = 32.0
    return Case("the scores are large", query=query, key=key, value=torch.randn(2, 5, 4, generator=rng))


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    key = torch.tensor([[[3.0, 1.0, 1.0, 1.0], [1.0, 3.0, 3.0, 3.0]]]).log()
    cases = [Case(query=torch.tensor([[[2.0, 0.0, 0.0, 0.0]]]), key=key, value=torch.tensor([[[8.0], [4.0]]]))]
    sizes = (((2,), 5, 7, 3, 6), ((3,), 6, 4, 8, 2), ((1,), 4, 4, 6, 5), ((2, 3), 5, 7, 4, 6))
    for dtype, (lead, L_q, L_k, d_k, d_v) in zip((torch.float32, torch.float64) * 2, sizes, strict=True):
        query, key, value = (
            torch.randn(*lead, *shape, generator=rng, dtype=dtype) for shape in ((L_q, d_k), (L_k, d_k), (L_k, d_v))
        )
        cases.append(Case(query=query, key=key, value=value))
    return [*cases, _large_scores(rng)]


EXERCISE = Exercise(
    answer="attention",
    cases=_cases,
    reference=attend,
    returns=("output", "weights"),
    faults=ATTENTION_FAULTS,
    advice="print weights.sum(dim=-1): all ones. Then compare scores[0, 0, 0] with one dot product over d_k ** 0.5.",
)
