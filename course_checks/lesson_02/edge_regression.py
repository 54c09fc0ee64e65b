"""2.2 · A kernel with an edge."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import as_numbers, part_of, symptom


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    x_key, y_key = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([40.0, 60.0, 140.0])
    made = [Case(x_query=torch.tensor([3.2, 1.7]), x_key=x_key, y_key=y_key, bandwidth=2.0)]
    for L_q, L_k, bandwidth in ((5, 7, 1.9), (9, 4, 2.7), (4, 4, 2.4), (5, 7, 2.1)):
        dtype = torch.float64 if L_k == 4 else torch.float32
        x_query, x_key, y_key = (torch.rand(n, generator=rng, dtype=dtype) for n in (L_q, L_k, L_k))
        x_key = 4 * (torch.arange(L_k) + 0.8 * x_key) / L_k  # no gap is wider than a bandwidth
        made.append(Case(x_query=0.2 + 3.6 * x_query, x_key=x_key, y_key=4 * y_key - 2, bandwidth=bandwidth))
    for label, *values, bandwidth in (
        ("a query is far away from every key", [0.5, 30.0, 2.1, -9.0], [0.0, 1.0, 3.0], [1.0, -1.0, 2.0], 1.2),
        ("two keys are nearly equally near", [60.0, -5.0, 2.0], [3.6, 4.0, 0.0005, 0.0], [1.0, 5.0, 2.0, 8.0], 2.0),
        ("a key lies just inside the edge", [0.0, 9.0], [-0.9999, 0.99995], [0.0, 1.0], 1.0),
        ("several keys are equally near", [2.0, 0.25], [3.0, 1.0, 0.0, 1.0], [1.0, 5.0, 2.0, 8.0], 0.75),
        ("the nearest key lies exactly at the edge", [0.5, 4.0, 2.0], [0.0, 1.0, 3.0], [1.0, -1.0, 2.0], 1.0),
    ):
        tensors = (torch.tensor(row, dtype=torch.float64) for row in values)
        arguments = dict(zip(("x_query", "x_key", "y_key"), tensors, strict=True))
        made.append(Case(label, **arguments, bandwidth=bandwidth, values_only="far away" not in label))
    return made


def empty_rows_stay_empty(answer):
    """The weights are right, but rows in which nothing is in reach have none (an eps in the denominator)."""
    part = next((part for part in answer.parts() if part.name == "weights"), None)
    sides = part and part.numbers()
    if not sides or any(expected.shape != actual.shape for expected, actual, _ in sides):
        return None
    empty = [actual.abs().sum(-1) < 1e-3 for _, actual, _ in sides]
    if any(row.any() for row in empty) and all(
        torch.allclose(actual[~row], expected[~row], 1e-3, 1e-3)
        for row, (expected, actual, _) in zip(empty, sides, strict=True)
    ):
        looks_like = "a query that reaches no key gets no weight at all: its row is all 0."
        return symptom(looks_like, ADDED, "no weight")
    return None


def number_added(answer):
    """In float64, where it can be told: each row of weights is divided by its sum and one small number more."""
    added = []
    for index in answer.order:
        case, seen = answer.cases[index], answer.observed[index]
        if case["x_key"].dtype != torch.float64:
            continue
        sides = [part_of(s["value"], 1, 2) for s in (answer.expected[index], seen) if s["outcome"] == "returned"]
        expected, actual = [side and as_numbers(side) for side in sides] if len(sides) == 2 else (None, None)
        if expected is None or actual is None or actual.shape != expected.shape:
            return None
        distance = case["x_query"][:, None] - case["x_key"]
        kernel = (1 - (distance / case["bandwidth"]) ** 2).clamp(min=0).sum(-1)  # (L_q,)
        reached = kernel > 1e-6
        if not torch.allclose(actual / actual.sum(-1, keepdim=True), expected, rtol=1e-6, atol=1e-9):
            return None
        added.append((kernel * (1 / actual.sum(-1) - 1))[reached])
    number = torch.cat(added).median() if added else torch.tensor(0.0)
    if not 1e-13 < number < 0.1 or not torch.allclose(torch.cat(added), number, rtol=0.02, atol=1e-14):
        return None
    sentence = (
        f"about {number:.1g} is added to the sums that the kernel is divided by: where keys are in reach, a row of weights "
        "sums to less than 1."
    )
    return symptom(sentence, "leave the added number out; no sum is 0 once every row has a key.", "a number is added")


ADDED = (
    "find the rows in which the whole kernel is 0, and put their nearest keys in before you divide; a number added to "
    "the sum gives no key any weight."
)

EXERCISE = Exercise(
    cases,
    returns=("prediction", "weights"),
    gradients=True,
    atol=2e-5,
    advice="for the query 2, the keys 1, 2, 4 and bandwidth 2 the kernel is 0.75, 1, 0; print yours.",
    symptoms=(empty_rows_stay_empty, number_added),
)
