"""One number for all, and results of an earlier call."""

import pytest
import torch
from toy_exercises import diagnosis

RNG = torch.Generator().manual_seed(0)
CASES = [{"x": torch.randn(2, 3, generator=RNG)}, {"x": torch.randn(4, 5, generator=RNG)}]


def of_it_all(x):
    return x.sum()


@pytest.mark.parametrize("value", [0.0, 3])
def test_one_value_for_all(value):
    cases = [*CASES, {"x": torch.randn(2, 2, generator=RNG)}]
    found_by, name, sentence = diagnosis(of_it_all, lambda x: value, *cases)
    assert (found_by, name) == ("symptom", "one value for all") and f"is {value:g}, in every case" in sentence
    assert diagnosis(of_it_all, lambda x: x.new_tensor(float(len(x))), *cases)[1] != "one value for all"


def test_the_result_of_an_earlier_call():
    kept = []

    def first_for_all(x):
        kept.append(2 * x)
        return kept[0]

    cases = [{"x": torch.randn(2, length, generator=RNG)} for length in (3, 4, 5)]
    found_by, name, sentence = diagnosis(lambda x: 2 * x, first_for_all, *cases)
    assert (found_by, name) == ("symptom", "result of an earlier call") and "`result`" in sentence


def test_few_results_fit_by_chance():
    cases = [{"x": torch.tensor(numbers)} for numbers in ([1, 2], [2, 1, 3], [5, 4], [4, 9])]
    assert diagnosis(lambda x: x[0] < x[1], lambda x: True, *cases)[1] != "result of an earlier call"
