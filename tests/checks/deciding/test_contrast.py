"""Where an answer is wrong, against where it is right: told as a fact, and only where it is one."""

import pytest
import torch
from toy_exercises import diagnosis

from course_checks.deciding.exercise import Case

X = [torch.randn(2, 3, generator=torch.Generator().manual_seed(i)) for i in range(4)]


def noise(x, other=None):
    return (x.flatten()[:3].double() * 37.7).sin().sum()


def wrong_on(*spoilt):
    sums = [noise(x) for x in spoilt]
    return lambda x, other=None: noise(x + 1) if noise(x) in sums else noise(x)


def test_a_label_is_told_as_what_it_is():
    cases = [Case(x=X[0]), Case("two keys tie", x=X[1]), Case(x=X[2]), Case("two keys tie", "long", x=X[3])]
    assert diagnosis(noise, wrong_on(X[1], X[3]), *cases) == (
        *("contrast", "It is wrong just where two keys tie"),
        "right in 2 cases of the check. It is wrong just where two keys tie.",
    )
    sentence = diagnosis(noise, wrong_on(X[3]), *cases)[2]
    assert sentence == "right in 3 cases of the check. It is wrong in one case alone, where long."


def test_several_labels_together_and_never_one_that_also_holds_where_it_is_right():
    cases = [Case("a tie", x=X[0]), Case("a gap", x=X[1]), Case(x=X[2]), Case("ordinary", x=X[3])]
    sentence = diagnosis(noise, wrong_on(X[0], X[1]), *cases)[2]
    assert sentence.endswith("It is wrong where a tie, and where a gap.")
    cases[2] = Case("a tie", x=X[2])
    assert diagnosis(noise, wrong_on(X[0], X[1]), *cases)[0] == ""


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ((None, X[0], None, X[1]), "`other` is given"),
        ((X[0], None, X[1], None), "`other` is None"),
        ((2, 1, 3, 1), "`other` is 1"),
        ((True, False, True, False), "`other` is False"),
        (("ab", "", "cd", ""), "`other` is empty"),
        ((X[0], X[1][:1], X[2], X[3][:1]), "`other.shape[-2]` is 1"),
        ((X[0], 99 * X[1], X[2], 99 * X[3]), "`other` has large entries"),
    ],
)
def test_what_the_wrong_cases_share_needs_two_of_them_and_two_right_ones(others, words):
    cases = [Case(x=x, other=other) for x, other in zip(X, others, strict=True)]
    found_by, name, sentence = diagnosis(noise, wrong_on(X[1], X[3]), *cases)
    assert found_by == "contrast" and f"wrong where {words}" in name
    assert sentence.startswith("right in 2 cases of the check, wrong in 2, and in these ") and words in sentence
    assert diagnosis(noise, wrong_on(X[1]), *cases[:3])[0] == ""
    assert diagnosis(noise, wrong_on(X[1], X[3]), cases[0], cases[1], cases[3])[0] == ""


def test_nothing_where_all_cases_are_wrong_or_nothing_tells_them_apart():
    labelled = [Case("a tie", x=x) for x in X[:2]]
    assert diagnosis(noise, wrong_on(*X), *labelled)[0] == ""
    assert diagnosis(noise, wrong_on(X[0], X[1]), *(Case(x=x) for x in X))[0] == ""


def test_where_it_stops_is_told_with_the_label():
    def answer(x):
        return noise(x) if noise(x) != noise(X[1]) else {}["key"]

    cases = [Case(x=X[0]), Case("two keys tie", x=X[1]), Case(x=X[2])]
    found_by, name, sentence = diagnosis(noise, answer, *cases)
    assert (found_by, name) == ("symptom", "stops with KeyError")
    assert sentence.endswith("It is wrong in one case alone, where two keys tie.")
