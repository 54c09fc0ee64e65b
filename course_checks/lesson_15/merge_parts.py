"""15.2 · Merge two partial results."""

import math

import torch

from ..deciding.exercise import Case, Exercise
from .common import MODULES, RINGS


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(shape, *labels, d_v=3, level=0.0, spread=0.0, empty=(0.0, 0.0), dtype=torch.float32):
        parts = []
        for share in empty:
            output = torch.randn(*shape, d_v, generator=rng, dtype=dtype)
            lse = (
                level
                + spread * torch.linspace(-1, 1, shape[-1], dtype=dtype)
                + 2 * torch.randn(*shape, generator=rng, dtype=dtype)
            )
            unseen = torch.rand(shape, generator=rng) < share
            parts += [output.masked_fill(unseen[..., None], 0.0), lse.masked_fill(unseen, -math.inf)]
        names = ("output_1", "lse_1", "output_2", "lse_2")
        return Case(*labels, **dict(zip(names, parts, strict=True)))

    def pairs_of_lse(*pairs, d_v):
        """One query for each pair of lse."""
        outputs = torch.randn(2, 1, 1, len(pairs), d_v, generator=rng)
        lse = torch.tensor(pairs).T[:, None, None]  # (2, 1, 1, queries)
        outputs = outputs.masked_fill((lse == -math.inf)[..., None], 0.0)
        return {"output_1": outputs[0], "lse_1": lse[0], "output_2": outputs[1], "lse_2": lse[1]}

    one, both = "a part has seen nothing", "both parts have seen nothing"
    large = "an lse is large"
    hand = {"output_1": torch.full((1, 1, 1, 1), 4.0), "output_2": torch.full((1, 1, 1, 1), 8.0)}
    hand = {"lse_1": torch.zeros(1, 1, 1), "lse_2": torch.full((1, 1, 1), math.log(3)), **hand}
    nothing = {"output_1": torch.zeros(1, 2, 3, 4), "lse_1": torch.full((1, 2, 3), -math.inf)}
    nothing |= {"output_2": nothing["output_1"].clone(), "lse_2": nothing["lse_1"].clone()}
    order = ("output_1", "lse_1", "output_2", "lse_2")
    return [
        Case(**{name: hand[name] for name in order}),
        case((2, 3, 4)),
        case((2, 3, 5), d_v=5),
        case((1, 2, 6), large, level=200.0),
        case((1, 4, 3), large, level=700.0, d_v=2),
        case((2, 1, 5), "the queries' lse lie far apart", spread=300.0),
        case((2, 2, 5), one, empty=(1.0, 0.0)),
        case((2, 2, 5), one, empty=(0.0, 1.0)),
        Case(both, **{name: nothing[name] for name in order}),
        case((3, 4, 5), one, both, empty=(0.6, 0.6)),
        case((2, 3, 4), level=-200.0),
        case((3, 2, 6), d_v=4, dtype=torch.float64),
        Case("the two lse of a query lie far apart", **pairs_of_lse((-100.0, 200.0), (200.0, -100.0), d_v=3)),
        Case(one, large, **pairs_of_lse((-math.inf, 200.0), (200.0, -math.inf), d_v=2)),
    ]


EXERCISE = Exercise(
    cases,
    returns=("output", "lse"),
    off_limits=(MODULES + "partial_attention.merge", MODULES + "partial_attention.partial_attention", *RINGS),
    advice="take the example: sums of exponentials 1 and 3, so the parts count a quarter and three quarters.",
)
