"""A factor too much."""

import pytest
import torch
from toy_exercises import diagnosis

RNG = torch.Generator().manual_seed(0)
CASES = [{"x": torch.randn(2, 9, generator=RNG), "k": 3}, {"x": torch.randn(4, 25, generator=RNG), "k": 7}]


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (lambda x, k: 2, "times 2"),
        (lambda x, k: 0.5, "times 1/2"),
        (lambda x, k: x.shape[-1], "times x.shape[-1]"),
        (lambda x, k: 1 / x.shape[0], "times 1 / x.shape[-2]"),
        (lambda x, k: x.shape[-1] ** -0.5, "times 1 / the root of x.shape[-1]"),
        (lambda x, k: k, "times k"),
        (lambda x, k: 0.7, "times 0.7"),
    ],
)
def test_what_the_factor_equals(factor, words):
    found_by, name, sentence = diagnosis(lambda x, k: x + 1, lambda x, k: (x + 1) * factor(x, k), *CASES)
    assert (found_by, name) == ("symptom", "constant factor") and words in sentence


def test_a_factor_in_each_case():
    found_by, name, sentence = diagnosis(lambda x, k: x + 1, lambda x, k: (x + 1) * (1.3 if k == 3 else 1.9), *CASES)
    assert (found_by, name) == ("symptom", "factor by case") and "another one: 1.3 and 1.9" in sentence


def test_each_row_by_a_factor_of_its_own():
    def answer(x, k):
        return x * torch.arange(2.0, len(x) + 2)[:, None]

    assert diagnosis(lambda x, k: x, answer, *CASES)[1] == "factor by row"


def test_one_number_in_one_case_tells_nothing():
    assert diagnosis(lambda n: 10 * n, lambda n: 20 * n, {"n": 3})[1] != "constant factor"
