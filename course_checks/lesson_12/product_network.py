"""12.1 · A network that multiplies."""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import as_numbers, stops_with, symptom

LARGE = "the numbers of `x` are large"


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(d_model, size, *labels, dtype=torch.float32):
        a, b = torch.randn(2, d_model, generator=rng, dtype=dtype)
        x = size * torch.randn(5, d_model, generator=rng, dtype=dtype)
        return Case(*labels, a=a, b=b, x=x)

    one, other = torch.eye(2)
    small = "the numbers of `x` are small"
    return [
        Case(a=one, b=other, x=torch.tensor([[3.0, -2.0], [-3.0, -2.0], [0.0, 5.0], [-1.0, 4.0]])),
        case(3, 1.0),
        case(5, 3.0),
        case(4, 0.2, small),
        case(6, 2.0, dtype=torch.float64),
        case(4, 1e6, LARGE, dtype=torch.float64),
        Case("`a` and `b` are the same", a=one, b=one, x=torch.tensor([[2.0, 7.0], [-4.0, 1.0], [0.5, 0.0]])),
    ]


def _usual(answer):
    """(case, what is right, what came back) wherever the numbers of x are of usual size; nothing if it stopped somewhere."""
    if any(seen["outcome"] != "returned" for seen in answer.observed):
        return
    for case, expected, seen in zip(answer.cases, answer.expected, answer.observed, strict=True):
        right, found = as_numbers(expected["value"]), as_numbers(seen["value"])
        if LARGE not in case.labels:
            yield case, right, found


def only_where_positive(answer):
    """The product where the gate is positive, and 0 where it is negative: a gate so steep that it is a ReLU."""
    for name in ("a", "b"):
        sides = []
        for case, right, found in _usual(answer):
            gate = (case["x"] @ case[name]).double()
            away = gate.abs() > 0.1
            sides.append(torch.allclose(found[away], (right * (gate > 0))[away], rtol=0.02, atol=1e-3))
        if sides and all(sides):
            return symptom(
                f"right where {name} x is positive, 0 where it is negative: a large factor makes the gate a ReLU.",
                "compare SiLU(z) with z for z = -3. What would a second feature have to add?",
            )
    return None


def nearly(answer):
    """Near everywhere, and not it: where SiLU is nearly straight."""
    sides = [torch.allclose(found, right, rtol=0.15, atol=0.02) for _, right, found in _usual(answer)]
    if sides and all(sides):
        return symptom(
            "it comes near the product where the numbers are of usual size, but isn't the product.",
            "a small factor in the gate makes SiLU nearly straight, and only nearly. A second feature can take its bend back.",
        )
    return None


TABLE = "compare the keys and shapes of your dict with the table in the task."
EXERCISE = Exercise(
    cases,
    returns=("outputs of the network",),
    driver="drive_network",
    symptoms=(
        stops_with("a dict of three matrices", "the dict has other keys than the table in the task names.", TABLE),
        stops_with(
            "a tensor with two axes", "a row of numbers is no matrix yet: a[None] has the shape (1, d_model).", TABLE
        ),
        stops_with(
            "they must be (d_ff, d_model)", "the shapes of the three matrices aren't those of the table.", TABLE
        ),
        only_where_positive,
        nearly,
    ),
    advice="work out by hand what each of your features brings for x = [3, -2], and for x = [-3, -2].",
)
