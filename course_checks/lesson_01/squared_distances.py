"""1.3 · Distances without differences."""

import torch

from ..deciding.exercise import Case, Exercise


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    queries, keys = torch.tensor([[[2.0, 3.0], [-1.0, -2.0]]]), torch.tensor([[[1.0, 4.0], [40.0, 0.0]]])
    made = [tables(queries, keys)]
    for B, L_q, L_k, d in ((2, 5, 7, 3), (4, 3, 2, 6), (3, 3, 3, 3), (2, 5, 7, 3)):
        made.append(tables(torch.randn(B, L_q, d, generator=rng), 2 * torch.randn(B, L_k, d, generator=rng)))
    return [*made, tables(queries.double() / 3, keys.double() / 7)]


def tables(queries, keys):
    products = {"QQ": (queries, queries), "QK": (queries, keys), "KK": (keys, keys)}
    return Case(**{name: left @ right.mT for name, (left, right) in products.items()})


EXERCISE = Exercise(
    cases,
    returns=("squared distances",),
    advice="work out |[2, 3] - [1, 4]|^2 = 2 from 13, 14 and 17, and print each step of your code beside it.",
)
