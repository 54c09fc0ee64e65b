"""The judge: from observations alone to the sentence that helps."""

import dataclasses

import pytest
import torch

from course_utils.checks.engine import run
from course_utils.checks.judges.find import find
from course_utils.checks.judges.judge import cases_of, describe_arguments, judge_for
from course_utils.checks.probes import observe_answer

DOT, COSINE = find("1.1"), find("1.2")


def test_right_on_the_example_only_is_refused():
    verdict = run(DOT, lambda a, b: torch.tensor(14.0 if b[0] > 0 else -8.0))
    assert not verdict.passed and verdict.case > 0 and "tensor (" in verdict.called_with


def test_an_error_names_the_students_line_and_no_stack():
    verdict = run(DOT, lambda a, b: undefined_name)  # noqa: F821
    text = verdict.text()
    assert "your code stopped at line" in text and "NameError: name 'undefined_name' is not defined" in text
    assert "observe.py" not in text and "misspelled" in text


def test_off_limits_says_so():
    verdict = run(COSINE, lambda a, b: torch.nn.functional.cosine_similarity(a, b, dim=-1))
    assert not verdict.passed and verdict.attempted
    words = " ".join(verdict.text().split("\n"))
    assert "asks you to write it yourself: torch.cosine_similarity is off limits" in words


def test_a_stub_in_one_branch_only_is_an_attempt():
    def answer(a, b):
        if a.shape[0] > 2:
            raise NotImplementedError
        return (a * b).sum()

    verdict = run(DOT, answer)
    assert verdict.attempted and "NotImplementedError" in verdict.text()


def test_an_empty_helper_of_another_exercise_is_named():
    def helper(a, b):
        raise NotImplementedError

    def answer(a, b):
        return helper(a, b)

    verdict = run(DOT, answer)
    assert verdict.attempted and "calls helper, which is still empty" in verdict.text()
    assert not run(DOT, helper).attempted


def test_a_reference_that_never_returns_is_an_authors_mistake():
    broken = dataclasses.replace(DOT, reference=lambda a, b: a.dott(b))
    with pytest.raises(ValueError, match=r"reference of 1\.1 raises in every case \(AttributeError"):
        run(broken, lambda a, b: a.dott(b))


def test_a_reference_that_stops_in_one_case_is_an_authors_mistake():
    broken = dataclasses.replace(DOT, reference=lambda a, b: (a * b).sum() if len(a) < 300 else a @ b[:2])
    with pytest.raises(ValueError, match=r"reference of 1\.1 raises in a case \(RuntimeError"):
        run(broken, lambda a, b: (a * b).sum())


def test_an_answer_that_should_raise_but_returns():
    def refuses(a, b):
        if b.sum() < 0:
            raise ValueError("no")
        return a @ b

    strict = dataclasses.replace(DOT, reference=refuses, faults=())
    assert "a value, where a ValueError was expected: no" in run(strict, lambda a, b: a @ b).text()
    assert run(strict, refuses).passed


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


def test_the_checks_own_arguments_are_not_listed():
    assert describe_arguments({"a": 1, "_seed": 7}) == "a = 1"


def test_cases_that_are_missing_earn_nothing():
    inputs = cases_of(DOT, 0)
    judge = judge_for(DOT, inputs)
    observations = observe_answer("1.1", lambda a, b: a @ b, inputs)
    assert judge(observations).passed
    observations["cases"].pop()
    assert f"{len(inputs) - 1} of {len(inputs)} cases" in judge(observations).text()
    assert not judge({"answer": "called", "type": "function", "cases": []}).passed


def test_a_quiz_has_no_cases():
    quiz = find("1.7")
    assert cases_of(quiz, 3) == []
    wrong = next(letter for letter in quiz.explanations if letter != quiz.right)
    assert run(quiz, quiz.right).explanation and f"Not {wrong}: " in run(quiz, wrong).text()
    assert "must be one letter in quotes" in run(quiz, "z").text() and not run(quiz, "").attempted
