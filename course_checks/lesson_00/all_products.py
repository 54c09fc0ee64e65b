"""0.5 · All pairs, in every sentence and head."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.off_limits import MATRIX_PRODUCTS, SIMILARITIES
from ..deciding.wrong_answer import as_numbers, close, symptom

SIZES = ((2, 3, 5, 7, 4), (3, 2, 4, 2, 6), (3, 3, 3, 3, 3), (2, 4, 1, 1, 3), (1, 2, 4, 5, 3), (2, 3, 5, 4, 7))


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    y = torch.tensor([[[[3.0, 4], [5, 7]]], [[[1, 1], [2, 6]]]])
    made = [Case(x=torch.tensor([[[[1.0, 2.0]]], [[[3.0, 0.0]]]]), y=y)]
    for B, H, n, m, d in SIZES:
        made.append(Case(x=torch.randn(B, H, n, d, generator=rng), y=torch.randn(B, H, m, d, generator=rng)))
    return made


def same_row_only(answer):
    """Where x and y have as many rows, only the products of row i with row i, alone or on a diagonal."""
    found = False
    for index, case in enumerate(answer.cases):
        seen, rows = answer.observed[index], case["x"].shape[2]
        if case["y"].shape[2] != rows or rows == 1:
            continue
        have = as_numbers(seen["value"]) if seen["outcome"] == "returned" else None
        own = as_numbers(answer.expected[index]["value"]).diagonal(dim1=-2, dim2=-1)
        forms = (own, own.diag_embed(), own[..., None], own[..., None, :])
        if have is None or not any(close(answer, have, want) for want in forms):
            return None
        found = True
    sentence = "row i of x meets row i of y only; every row of x should meet every row of y."
    advice = "the rows of x and those of y are two axes of the result: in an einsum two letters."
    return symptom(sentence, advice, "same row only") if found else None


EXERCISE = Exercise(
    cases,
    returns=("products",),
    symptoms=(same_row_only,),
    off_limits=(*MATRIX_PRODUCTS, *SIMILARITIES),
    advice="name the axes: x is b h i d, y is b h j d, and the result keeps all but d.",
)
