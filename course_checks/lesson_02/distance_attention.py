"""2.6 · Find the bug."""

import torch

from ..deciding.exercise import Case, Exercise, mistake


def cases(seed):
    rng = torch.Generator().manual_seed(seed + 1)
    query, key = torch.tensor([[[1.0, 0.0], [1.0, 1.0]]]), torch.tensor([[[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]]])
    first = {"query": query, "key": key, "value": torch.tensor([[[10.0], [20.0], [-5.0]]]), "bandwidth": 1.0}
    made = [Case(**first)]
    sizes = (
        (2, 5, 7, 3, 4, 0.8),
        (4, 3, 2, 6, 5, 1.3),
        (3, 3, 3, 3, 3, 0.7),
        (2, 4, 6, 1, 2, 0.5),
        (2, 5, 7, 3, 4, 1.7),
    )
    for B, L_q, L_k, d, d_v, bandwidth in sizes:
        dtype = torch.float64 if B == 4 else torch.float32
        shapes = {"query": (B, L_q, d), "key": (B, L_k, d), "value": (B, L_k, d_v)}
        drawn = {name: torch.randn(shape, generator=rng, dtype=dtype) for name, shape in shapes.items()}
        made.append(Case(**drawn, bandwidth=bandwidth))
    far = made[2] | {"query": 40 + made[2]["query"]}  # in float64, in which the differences are still exact
    return [*made, Case("a query lies far away from all keys", **far, values_only=True)]


EXERCISE = Exercise(
    cases,
    returns=("output", "weights"),
    gradients=True,
    rtol=1e-3,
    atol=5e-5,
    mistakes=[
        mistake(
            "all keys are brought to length 1, as if they stood on the circle: that moves them.",
            "leave the keys where they are; what differs from key to key must come into the scores.",
            {
                "(key**2).sum(dim=-1)[:, None]": "1.0",
                "@ key.mT": "@ torch.nn.functional.normalize(key, dim=-1).mT",
            },
        ),
        mistake(
            "the squared lengths of the first item's keys are used in the whole batch.",
            "keep the batch axis: no [0].",
            {"(key**2).sum(dim=-1)[:, None]": "(key[0] ** 2).sum(dim=-1)"},
        ),
    ],
    advice="for the query [1, 0] and the key [3, 0] the squared distance is 4: print yours, for all three keys.",
)
