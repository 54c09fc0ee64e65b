"""14.1 · Back through a softmax."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import GRADIENTS, table, too_much


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(*shape, label=(), hidden=False, dtype=torch.float32, **driver):
        scores, d_weights = (2 * torch.randn(*shape, generator=rng, dtype=dtype) for _ in range(2))
        if hidden:
            later = torch.ones(shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        return Case(*label, weights=scores.softmax(dim=-1), d_weights=d_weights, driver=driver)

    return [
        Case(weights=torch.tensor([0.5, 0.25, 0.25]), d_weights=torch.tensor([8.0, 0.0, 4.0])),
        case(3, 5),
        case(4, 4),
        case(2, 3, 4, 6),
        case(2, 5, 5, label=("some weights are 0",), hidden=True),
        case(2, 3, 5, 5, label=("some weights are 0",), hidden=True, dtype=torch.float64),
        case(2, 3, 4, 6),
        case(2, 1024, label=("a row has 1,024 weights, and it is watched what you hold",), **table(1024)),
    ]


EXERCISE = Exercise(
    cases,
    returns=("derivatives",),
    driver="within_memory",
    off_limits=GRADIENTS,
    symptoms=(too_much,),
    advice="take two weights, 0.5 and 0.5, with the derivatives 1 and 0: raising the first score helps, and raising the second "
    "hurts as much.",
)
