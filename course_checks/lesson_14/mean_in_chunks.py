"""14.8 · Find the bug: what divides is forgotten at a chunk's border."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import FEW, WATCHED, WITHOUT_SOFTMAX, table, too_many, too_much

ONE, SEVERAL = "all positions in one chunk", "there are three chunks or more"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, length, d_k, d_v, chunk_size, *labels, dtype=torch.float32, **driver):
        sizes = {"query": d_k, "key": d_k, "value": d_v}
        tensors = {name: torch.randn(batch, length, size, generator=rng, dtype=dtype) for name, size in sizes.items()}
        return Case(*labels, **tensors, chunk_size=chunk_size, driver=driver)

    query, key = torch.randn(2, 1, 4, 2, generator=rng)
    return [
        Case(query=query, key=key, value=torch.ones(1, 4, 1), chunk_size=2),
        case(2, 5, 3, 4, 5, ONE),
        case(2, 6, 4, 3, 3),
        case(3, 8, 2, 5, 2, SEVERAL),
        case(2, 7, 3, 4, 3, SEVERAL),
        case(2, 9, 4, 2, 2, SEVERAL, dtype=torch.float64),
        case(3, 8, 2, 5, 2, SEVERAL),
        case(2, 3, 4, 2, 7, ONE),
        case(1, 4096, 3, 2, 256, SEVERAL, WATCHED, **table(4096, 0.2), **FEW),
    ]


EXERCISE = Exercise(
    cases,
    returns=("output",),
    driver="within_memory",
    off_limits=WITHOUT_SOFTMAX,
    symptoms=(too_many, too_much),
    advice="take values of 1 in two chunks of one position each, and work out both sums for the second position by hand.",
)
