"""1.3 · Distances without differences."""

import torch

from ..deciding.compare import value_difference
from ..deciding.exercise import Case, Exercise, mistake
from ..deciding.wrong_answer import symptom
from ..running.encode import encode


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


def only_if_shapes_fit(formula, looks_like, advice, name):
    """A symptom: the values are those of a formula that stops wherever axes do not fit, with whatever words."""

    def seen(answer):
        for case, observed in zip(answer.cases, answer.observed, strict=True):
            try:
                value = encode(formula(*case.values()))
            except (RuntimeError, IndexError):
                value = None
            if (value is not None) != (observed["outcome"] == "returned"):
                return None
            if value is not None and value_difference(answer.exercise, value, observed["value"]):
                return None
        return symptom(looks_like, advice, name)

    return seen


def inner(table):
    return table.diagonal(dim1=-2, dim2=-1)  # (B, L)


EXERCISE = Exercise(
    cases,
    returns=("squared distances",),
    mistakes=[
        mistake(
            "the distances themselves, not their squares.",
            "squared distances are asked for: take no root.",
            then=lambda squares: squares.clamp(min=0).sqrt(),
        )
    ],
    symptoms=(
        only_if_shapes_fit(
            lambda QQ, QK, KK: QQ.diagonal()[:, :, None] + KK.diagonal()[:, None, :] - 2 * QK,
            "the diagonal runs through items and rows, the first two axes, as it does if you name none.",
            "tell diagonal which axes: the last two, dim1=-2 and dim2=-1.",
            "diagonal of the first two axes",
        ),
        only_if_shapes_fit(
            lambda QQ, QK, KK: QQ + KK - 2 * QK,
            "whole tables are added, entry by entry: that works only for as many queries as keys.",
            "a query's product with itself is on the diagonal of QQ.",
            "whole tables",
        ),
        only_if_shapes_fit(
            lambda QQ, QK, KK: (inner(QQ) + inner(KK))[:, None, :] - 2 * QK,
            "squared lengths of queries and keys both lie along the rows: that works only for as many queries as keys.",
            "queries are the rows of the result: their squared lengths need a new last axis.",
            "both along the rows",
        ),
    ),
    advice="work out |[2, 3] - [1, 4]|^2 = 2 from 13, 14 and 17, and print each step of your code beside it.",
)
