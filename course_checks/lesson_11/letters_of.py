"""11.4 · One letter for each sound, never going back."""

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
    rows = torch.tensor([[0.3, 0.25, 0.45], [0.6, 0.2, 0.2], [0.1, 0.7, 0.2], [0.0, 0.0, 1.0]])
    wide = torch.randn(2, 2, 6, 5, generator=rng, dtype=torch.float64)
    return [Case(weights=rows[None, None]), *(Case(weights=w.softmax(-1)) for w in (*drawn, wide))]


EXERCISE = Exercise(
    cases,
    returns=("letters",),
    off_limits=("course_utils.pretrained.pronunciation.align",),
    advice="work the example by hand: for each sound and letter, the best sum of a path that ends there.",
)
