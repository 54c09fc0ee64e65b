"""8.5 · Convert a checkpoint."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import as_numbers, symptom


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(heads, d_head, *rest, dtype=torch.float32):
        label = "`weight` is a bias" if not rest else "there is one head" if heads == 1 else "there are several heads"
        return Case(label, weight=torch.randn(heads * d_head, *rest, generator=rng, dtype=dtype), num_heads=heads)

    sizes = ((1, 6, 6), (2, 6, 12), (3, 8), (2, 10, 20), (2, 6, 24), (3, 2, 6), (2, 6, 12))
    made = [case(*size, dtype=torch.float64 if size == (2, 10, 20) else torch.float32) for size in sizes]
    return [Case("`weight` is a bias", weight=torch.arange(6.0), num_heads=1), *made]


def columns_moved(answer):
    """Wherever the weight is no bias, each row holds its own numbers in another order."""
    pairs = [
        (answer.cases[i]["weight"].double(), as_numbers(answer.observed[i]["value"]))
        for i in answer.wrong
        if answer.observed[i]["outcome"] == "returned" and answer.cases[i]["weight"].dim() == 2
    ]
    if not pairs or any(actual is None or not torch.equal(actual.sort(-1)[0], w.sort(-1)[0]) for w, actual in pairs):
        return None
    if all(torch.equal(actual, w) for w, actual in pairs):
        return None
    sentence = "the columns are put in another order: they belong to what goes in."
    return symptom(sentence, "the rows make the features of queries and keys.", "columns moved")


EXERCISE = Exercise(
    cases,
    returns=("converted",),
    symptoms=(columns_moved,),
    advice="convert torch.arange(12.) with 2 heads on paper: [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11].",
)
