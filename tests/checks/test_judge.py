"""The judge: from observations alone to the sentence that helps."""

import dataclasses

import pytest
import torch

from course_utils.checks.engine import find, run
from course_utils.checks.judge import describe_arguments

DOT, COSINE = find("1.1"), find("1.2")


def test_a_known_mistake_is_named_with_its_sentences():
    verdict = run(DOT, lambda a, b: sum(x * y for x, y in zip(a, b, strict=True)) / len(a))
    assert verdict.mistake == "mean"
    assert verdict.text().split("\n") == [
        "1.1 not yet · 0 of 2 points",
        "the dot product: the value differs: yours 7, expected 14",
        "Called with: a = [2.0, 3.0], b = [1.0, 4.0]",
        "It looks like: the mean of the products: it is too small by the factor d, the number of",
        "coordinates.",
        "Try: use .sum(), not .mean().",
    ]


def test_an_unknown_mistake_gets_the_difference_and_the_advice():
    verdict = run(DOT, lambda a, b: (a * b).sum() + 1)
    assert verdict.mistake is None and not verdict.looks_like and verdict.advice == DOT.advice
    assert "yours 15, expected 14" in verdict.text()


def test_right_on_the_example_only_is_refused():
    verdict = run(DOT, lambda a, b: torch.tensor(14.0 if b[0] > 0 else -8.0))
    assert not verdict.passed and "tensor (7,)" in verdict.called_with


def test_an_error_names_the_students_line_and_no_stack():
    verdict = run(DOT, lambda a, b: undefined_name)  # noqa: F821
    text = verdict.text()
    assert "your code stopped at line" in text and "NameError: name 'undefined_name' is not defined" in text
    assert "probe.py" not in text and "mend that line" in text


def test_off_limits_says_so():
    verdict = run(COSINE, lambda a, b: torch.nn.functional.cosine_similarity(a, b, dim=-1))
    assert not verdict.passed and verdict.attempted
    assert "asks you to write it yourself: torch.cosine_similarity is off limits" in " ".join(
        verdict.text().split("\n")
    )


def test_a_stub_in_one_branch_only_is_an_attempt():
    def answer(a, b):
        if a.shape[0] > 2:
            raise NotImplementedError
        return (a * b).sum()

    verdict = run(DOT, answer)
    assert verdict.attempted and "NotImplementedError" in verdict.text()


def test_a_reference_that_never_returns_is_an_authors_mistake():
    broken = dataclasses.replace(DOT, reference=lambda a, b: a.dott(b))
    with pytest.raises(ValueError, match=r"reference of 1\.1 raises in every case \(AttributeError"):
        run(broken, lambda a, b: a.dott(b))


def test_an_answer_that_should_raise_but_returns():
    def refuses(a, b):
        if b.sum() < 0:
            raise ValueError("no")
        return a @ b

    verdict = run(dataclasses.replace(DOT, reference=refuses), lambda a, b: a @ b)
    assert "a value, where a ValueError was expected: no" in verdict.text()
    assert run(dataclasses.replace(DOT, reference=refuses), refuses).passed


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"a": torch.tensor([1.0, 0.25])}, "a = [1.0, 0.25]"),
        ({"a": torch.zeros(2, 5, 7)}, "a = tensor (2, 5, 7)"),
        ({"a": torch.tensor(2.0), "k": 3, "s": "x"}, "a = 2.0, k = 3, s = 'x'"),
        ({"weights": {"q": torch.zeros(3), "k": torch.zeros(3)}}, "weights = {'q', 'k'}"),
        ({"a": list(range(100))}, "..."),
    ],
)
def test_arguments_in_words(case, words):
    assert words in describe_arguments(case)


def test_cases_that_are_missing_earn_nothing():
    inputs = DOT.inputs(0)
    observations = DOT.probe(lambda a, b: a @ b, inputs)
    assert DOT.judge(inputs, observations).passed
    observations["cases"].pop()
    assert "3 of 4 cases" in DOT.judge(inputs, observations).text()
    assert not DOT.judge(inputs, {"answer": "called", "type": "function", "cases": []}).passed
