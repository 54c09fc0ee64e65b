"""Where an answer is wrong, against where it is right."""

import pytest
import torch
from toys import told

from course_utils.checks.judges.contrast import labels_of
from course_utils.checks.judges.exercise import Case


def noise(x):
    return (x.flatten()[:3].double() * 37.7).sin().sum()


X = [torch.randn(2, 3, generator=torch.Generator().manual_seed(i)) for i in range(4)]


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        ([{"x": X[0], "mask": None}, {"x": X[1], "mask": X[1]}, {"x": X[2], "mask": None}], "`mask` is given"),
        ([{"x": X[0], "mask": X[1]}, {"x": X[1], "mask": None}, {"x": X[2], "mask": X[2]}], "`mask` is None"),
        ([{"x": X[0], "mask": 2}, {"x": X[1], "mask": 1}, {"x": X[2], "mask": 3}], "`mask` is 1"),
        ([{"x": X[0], "mask": True}, {"x": X[1], "mask": False}, {"x": X[2], "mask": True}], "`mask` is False"),
        ([Case(x=X[0], mask=5), Case("two keys tie", x=X[1], mask=7), Case(x=X[2], mask=9)], "two keys tie"),
        ([{"x": X[0], "mask": 5}, {"x": X[1].double(), "mask": 7}, {"x": X[2], "mask": 9}], "`x` has dtype float64"),
        ([{"x": X[0], "mask": 5}, {"x": X[1][:1], "mask": 7}, {"x": X[2], "mask": 9}], "`x.shape[-2]` is 1"),
        ([{"x": X[0], "mask": "ab"}, {"x": X[1], "mask": ""}, {"x": X[2], "mask": "cd"}], "`mask` is empty"),
    ],
)
def test_the_label_that_tells_them_apart(cases, words):
    spoilt = noise(cases[1]["x"])

    def answer(x, mask):
        return noise(x) if noise(x) != spoilt else torch.tensor(0.123, dtype=torch.float64)

    layer, _, said = told(lambda x, mask: noise(x), answer, *cases)
    assert (
        layer == "contrast"
        and said.startswith("right in 2 cases of the check, wrong in 1: just where")
        and words in said
    )


def test_a_label_about_numbers_needs_two_cases_on_each_side():
    def answer(x):
        return noise(x) if x.abs().max() < 50 else torch.tensor(0.123, dtype=torch.float64)

    large = [{"x": 99 * x} for x in X[:2]]
    small = [{"x": x} for x in X[2:]]
    assert "`x` has large entries" in told(noise, answer, *small, *large)[2]
    assert told(noise, answer, *small, large[0])[0] == ""


def test_nothing_is_told_where_all_cases_are_wrong_or_no_label_fits():
    cases = [{"x": X[0]}, {"x": X[1]}]
    assert told(lambda x: noise(x), lambda x: torch.tensor(0.5).double(), *cases)[0] != "contrast"
    third = [{"x": X[0], "n": 3}, {"x": X[1], "n": 5}, {"x": X[2], "n": 7}]
    answer = lambda x, n: noise(x) if n != 5 else torch.tensor(0.123).double()  # noqa: E731
    assert told(lambda x, n: noise(x), answer, *third)[0] == ""


def test_labels_of_an_exercise_come_first_and_the_checks_own_arguments_have_none():
    found = labels_of([Case("ties", n=1, _seed=0), Case(n=2, _seed=0)])
    assert list(found)[0] == "ties" and not any("_seed" in label for label in found)
