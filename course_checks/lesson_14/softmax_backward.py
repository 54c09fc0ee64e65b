"""14.1 · Back through a softmax with a sink."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import GRADIENTS, table, too_much


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(*shape, label=(), hidden=False, sink=True, dtype=torch.float32, **driver):
        scores, d_weights = (2 * torch.randn(*shape, generator=rng, dtype=dtype) for _ in range(2))
        of_sink = 1 + 2 * torch.rand(*shape[:-1], 1, generator=rng, dtype=dtype)
        if not sink:
            of_sink = torch.full_like(of_sink, float("-inf"))
        if hidden:
            later = torch.ones(shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        weights = torch.cat((scores, of_sink), dim=-1).softmax(dim=-1)[..., :-1].contiguous()
        return Case(*label, weights=weights, d_weights=d_weights, driver=driver)

    return [
        Case(weights=torch.tensor([0.5, 0.25, 0.125]), d_weights=torch.tensor([8.0, 0.0, 4.0])),
        case(3, 5),
        case(4, 4),
        case(2, 3, 4, 6),
        case(2, 5, 5, label=("some weights are 0",), hidden=True),
        case(2, 3, 5, 5, label=("some weights are 0",), hidden=True, dtype=torch.float64),
        case(2, 3, 4, label=("the sink has no weight",), sink=False),
        case(2, 1024, label=("a row has 1,024 weights, and it is watched what you hold",), **table(1024)),
    ]


EXERCISE = Exercise(
    cases,
    returns=("by the scores", "by the sink"),
    driver="within_memory",
    off_limits=GRADIENTS,
    symptoms=(too_much,),
    advice="take two keys and a sink, with the weights 0.5, 0.25 and 0.25 and the derivatives 1 and 0: raising the first score "
    "helps, raising the second or the sink's takes weight from the first.",
)
