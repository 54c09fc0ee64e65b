"""What every right result has, and where the wrong values lie."""

import pytest
import torch
from toy_exercises import diagnosis

RNG = torch.Generator().manual_seed(0)
CASES = [{"x": torch.randn(2, 4, 5, generator=RNG)}, {"x": torch.randn(3, 6, 4, generator=RNG)}]


def weights(x):
    return x.softmax(-1)


def some(x):
    """Weights whose second row is 0."""
    return weights(x) * (torch.arange(x.shape[1]) != 1)[:, None]


def lower(x):
    return x.tril()


def spoilt(x, place, value):
    result = weights(x).clone()
    result[place] = value
    return result


@pytest.mark.parametrize(
    ("right", "answer", "name", "words"),
    [
        (weights, lambda x: spoilt(x, (0, 1), float("nan")), "NaN", "holds NaN"),
        (weights, lambda x: spoilt(x, (0, 1), float("inf")), "infinity", "holds infinity"),
        (weights, lambda x: weights(x) + x.abs(), "rows do not sum to one", "each should sum to 1"),
        (some, lambda x: some(x) + some(x) * x.abs(), "rows do not sum to one", "; each of them should sum to 1"),
        (lower, lambda x: 2 * x + x.cos(), "zeros are missing", "the future is seen"),
        (lower, lambda x: (x + 1).tril(-1), "zeros too many", "are 0 where"),
    ],
)
def test_properties(right, answer, name, words):
    found_by, found_name, sentence = diagnosis(right, answer, *CASES)
    assert found_by == "symptom" and found_name.startswith(name) and words in sentence


def test_what_a_later_case_holds_is_not_told_of_the_one_that_is_shown():
    _, name, _ = diagnosis(weights, lambda x: weights(x) / 2 if len(x) == 2 else weights(x) * torch.nan, *CASES)
    assert name == "rows do not sum to one"
    _, name, sentence = diagnosis(torch.cos, lambda x: x.exp() if len(x) == 2 else x * torch.nan, *CASES)
    assert name == "NaN" and "in other cases of the check" in sentence


def test_the_other_parts_are_right():
    found_by, name, sentence = diagnosis(
        lambda x: (x.cos(), x.sin()), lambda x: (x.cos(), x.exp().cos()), *CASES, returns=("even", "odd")
    )
    assert (name, sentence) == ("only odd wrong", "`even` is right in every case; what is wrong is `odd`.")
