"""1.5 · Nearest neighbors."""

import torch
import torch.nn.functional as F

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import as_numbers, symptom
from .common import COSINES


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    keys = torch.tensor([[1.0, 4.0], [-1.0, -2.0], [40.0, 0.0], [0.4, 0.6]])
    made = [Case(query=torch.tensor([2.0, 3.0]), keys=keys, k=2)]
    for count, size, k in ((9, 4, 3), (30, 6, 5), (12, 3, 11), (8, 3, 1), (7, 5, 6), (4, 2, 3)):
        keys = 10.0 ** (2 * torch.rand(count, 1, generator=rng) - 1) * torch.randn(count, size, generator=rng)
        query = torch.randn(size, generator=rng)
        labels = []
        if count == 12:
            keys, labels = 1e-4 * keys, ["the keys are very short"]
        if count == 4:  # all keys but one point away from the query
            keys *= (keys @ query).sign()[:, None] * torch.tensor([[-1.0], [1.0], [-1.0], [-1.0]])
        if (F.normalize(keys, dim=-1) @ query).topk(k).values.min() < 0:
            labels.append("some of the k nearest keys point away from the query")
        made.append(Case(*labels, query=query, keys=keys, k=k))
    return made


def similarities_themselves(answer):
    """The k largest similarities, best first, where their rows should stand."""
    for index in answer.wrong:
        case, seen = answer.cases[index], answer.observed[index]
        actual = as_numbers(seen["value"]) if seen["outcome"] == "returned" else None
        cosines = F.normalize(case["keys"], dim=-1).double() @ F.normalize(case["query"], dim=-1).double()
        largest, length = cosines.topk(case["k"]).values, case["query"].norm()
        if actual is None or actual.shape != largest.shape:
            return None
        if not any(torch.allclose(actual, size * largest, rtol=1e-3, atol=1e-4) for size in (1.0, length)):
            return None
    sentence = "these are the k largest similarities, not the rows where they stand."
    return symptom(sentence, "topk hands back values and indices: the indices are the rows.", "similarities")


def whole_topk(answer):
    """The second of two returned parts is right, whichever similarities stand in the first."""
    for index in answer.wrong:
        seen = answer.observed[index]
        parts = (
            seen["value"]["value"]
            if seen["outcome"] == "returned" and seen["value"]["kind"] in ("tuple", "list")
            else ()
        )
        if len(parts) != 2 or not answer.same_part(answer.expected[index]["value"], parts[1]):
            return None
    sentence = "two things are returned, the largest similarities and their rows; the rows are right."
    return symptom(sentence, "topk hands back both; the task asks for one of them.", "both parts of topk")


EXERCISE = Exercise(
    cases,
    returns=("indices",),
    off_limits=COSINES,
    advice="print the cosine of the query with every key, then sort them by hand.",
    symptoms=(whole_topk, similarities_themselves),
)
