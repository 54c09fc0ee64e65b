"""1.8 · Every question with every page."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import as_numbers, close, symptom

SIZES = ((2, 3, 4, 6, 5), (3, 5, 3, 4, 6), (3, 3, 3, 3, 3), (4, 6, 2, 3, 7), (2, 3, 4, 6, 5))


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    pages = torch.tensor([[[3.0, 2.0], [0.0, 1.0]], [[4.0, -3.0], [1.0, 0.0]]])
    made = [Case(queries=torch.eye(2)[None], keys=pages)]
    for B_q, L_q, B_k, L_k, d in SIZES:
        queries, keys = torch.randn(B_q, L_q, d, generator=rng), torch.randn(B_k, L_k, d, generator=rng)
        made.append(Case(queries=queries, keys=keys))
    made.append(Case("every product is negative", queries=queries.abs(), keys=-keys.abs()))
    return [*made, Case(queries=queries.double(), keys=keys.double() / 3)]


def own_page_only(answer):
    """Where there are as many pages as questions, only the scores of question b for page b, alone or on a diagonal."""
    compared = False
    for index, case in enumerate(answer.cases):
        seen, pages = answer.observed[index], len(case["keys"])
        if len(case["queries"]) != pages or pages == 1:
            continue
        actual = as_numbers(seen["value"]) if seen["outcome"] == "returned" else None
        own = as_numbers(answer.expected[index]["value"]).diagonal()
        if actual is None or not any(
            close(answer, actual, expected) for expected in (own, own.diag(), own[:, None], own[None])
        ):
            return None
        compared = True
    sentence = "question b meets page b only; every question should meet every page."
    advice = (
        "the two batches are two axes, (B_q, B_k, L_q, L_k): in an einsum two letters, with @ an axis of size 1 each."
    )
    return symptom(sentence, advice, "own page only") if compared else None


EXERCISE = Exercise(
    cases,
    returns=("scores",),
    symptoms=(own_page_only,),
    advice="make all products first, of shape (B_q, B_k, L_q, L_k), and print the shape after every step.",
)
