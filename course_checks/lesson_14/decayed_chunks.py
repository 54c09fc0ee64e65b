"""14.6 · Decay, in chunks."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import FEW, WATCHED, WITHOUT_SOFTMAX, table, too_many, too_much

FADED, LAST = "the decays leave nothing in float32", "the last chunk is shorter"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, length, d_k, d_v, chunk_size, *labels, dtype=torch.float32, **driver):
        query, key = (torch.randn(batch, length, d_k, generator=rng, dtype=dtype) for _ in range(2))
        value, state = (torch.randn(batch, n, d_v, generator=rng, dtype=dtype) for n in (length, d_k))
        decay = 0.5 + 0.5 * torch.rand(batch, length, generator=rng, dtype=dtype)
        if FADED in labels:
            decay[:, ::3] = 1e-30
        tensors = {"query": query, "key": key, "value": value, "decay": decay}
        return Case(*labels, **tensors, chunk_size=chunk_size, state=state, driver=driver)

    return [
        Case(
            query=torch.ones(1, 3, 1),
            key=torch.ones(1, 3, 1),
            value=torch.tensor([[[4.0], [6.0], [1.0]]]),
            decay=torch.tensor([[0.5, 0.25, 0.5]]),
            chunk_size=2,
            state=torch.tensor([[[8.0]]]),
        ),
        case(2, 4, 3, 5, 4, "all positions in one chunk"),
        case(2, 6, 4, 3, 2),
        case(3, 7, 2, 4, 3, LAST),
        case(2, 8, 3, 3, 5, LAST, dtype=torch.float64),
        case(2, 3, 4, 2, 8, "all positions in one chunk"),
        case(2, 6, 4, 3, 2),
        case(2, 9, 3, 4, 9, FADED),
        case(2, 12, 3, 4, 5, FADED, LAST),
        case(1, 4096, 3, 2, 256, WATCHED, **table(4096, 0.2), **FEW),
    ]


EXERCISE = Exercise(
    cases,
    returns=("output", "state"),
    driver="within_memory",
    off_limits=WITHOUT_SOFTMAX,
    symptoms=(too_many, too_much),
    rtol=1e-3,
    atol=1e-4,
    pairs=150,
    advice="take chunk_size = 1, where the table is a single 1, then chunk_size = L with a state of zeros.",
)
