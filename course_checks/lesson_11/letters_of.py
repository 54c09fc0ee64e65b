"""11.4 · One letter for each sound."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = (
        (1, 1, 3, 4),
        (1, 3, 4, 3),
        (3, 1, 4, 6),
        (2, 3, 5, 7),
        (4, 2, 9, 6),
        (3, 4, 8, 11),
        (2, 3, 5, 7),
        (2, 5, 10, 12),
    )
    drawn = [1.7 * torch.randn(*size, generator=rng) for size in (*sizes, (2, 2, 2, 3))]
    return [Case(weights=w.softmax(-1)) for w in (*drawn, torch.randn(2, 2, 6, 5, generator=rng, dtype=torch.float64))]


EXERCISE = Exercise(
    cases,
    returns=("letters",),
    off_limits=("course_utils.pretrained.pronunciation.align",),
    advice="print the shape after each step: (layers, heads, L_t, L_s), then (L_t, L_s), then (L_t - 1,).",
)
