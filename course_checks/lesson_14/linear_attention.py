"""14.5 · A state and its normalizer."""

import torch

from ..deciding.exercise import Case, Exercise
from .common import WATCHED, WITHOUT_SOFTMAX, table, too_much


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(batch, length, d_k, d_v, *labels, goes_on=False, dtype=torch.float32, **driver):
        query, key = (torch.randn(batch, length, d_k, generator=rng, dtype=dtype) for _ in range(2))
        value = torch.randn(batch, length, d_v, generator=rng, dtype=dtype)
        state, normalizer = value.new_zeros(batch, d_k, d_v), value.new_zeros(batch, d_k)
        if goes_on:
            state += torch.randn(batch, d_k, d_v, generator=rng, dtype=dtype)
            normalizer += 0.5 + 3 * torch.rand(batch, d_k, generator=rng, dtype=dtype)
        tensors = {"query": query, "key": key, "value": value, "state": state, "normalizer": normalizer}
        return Case(*labels, **tensors, driver=driver)

    later = "a text came before"
    return [
        Case(
            query=torch.tensor([[[0.0, 1.0], [0.0, 2.0]]]),
            key=torch.tensor([[[1.0, 0.0], [1.0, 2.0]]]),
            value=torch.tensor([[[4.0], [12.0]]]),
            state=torch.zeros(1, 2, 1),
            normalizer=torch.zeros(1, 2),
        ),
        case(2, 3, 4, 5),
        case(3, 6, 5, 2),
        case(2, 4, 3, 6, later, goes_on=True),
        case(3, 5, 4, 2, later, goes_on=True, dtype=torch.float64),
        case(2, 1, 3, 4, later, goes_on=True),
        case(2, 7, 4, 4),
        case(1, 1536, 3, 2, WATCHED, **table(1536)),
    ]


EXERCISE = Exercise(
    cases,
    returns=("output", "state", "normalizer"),
    driver="within_memory",
    off_limits=WITHOUT_SOFTMAX,
    symptoms=(too_much,),
    advice="go through the example by hand: state, normalizer and both reads after each of the two positions.",
)
