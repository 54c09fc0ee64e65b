"""From observations alone to the sentence that helps."""

import pytest
import torch
from toy_exercises import exercise, verdict

from course_checks.deciding.decide import cases_of, decider, describe_arguments
from course_checks.deciding.find import find
from course_checks.engine import run
from course_checks.running.call import Case
from course_checks.running.observe import observe

A, B = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, -5.0, 6.0])
CASES = [Case(a=A, b=B), Case(a=torch.arange(7.0), b=torch.arange(7.0).cos()), Case(a=-A, b=B)]


def dot(a, b):
    return (a * b).sum()


def decided(answer, right=dot, **fields):
    return verdict(right, answer, *CASES, **fields)


def test_right_on_the_example_only_is_refused():
    failed = decided(lambda a, b: torch.tensor(12.0 if a[0] else 3.0))
    assert not failed.passed and failed.case == 1 and "tensor (7,)" in failed.called_with
    assert decided(lambda a, b: a @ b).passed


def test_an_error_names_the_students_line_and_no_stack():
    text = decided(lambda a, b: undefined_name).text()  # noqa: F821
    assert "your code stopped at line" in text and "NameError: name 'undefined_name' is not defined" in text
    assert "observe.py" not in text and "misspelled" in text


def test_off_limits_says_so():
    failed = decided(lambda a, b: torch.softmax(a, -1), off_limits=("torch.softmax",))
    assert not failed.passed and failed.attempted
    assert "asks you to write it yourself: torch.softmax is off limits" in " ".join(failed.text().split("\n"))


def test_a_stub_in_one_branch_only_is_an_attempt():
    def answer(a, b):
        if a.shape[0] > 3:
            raise NotImplementedError
        return dot(a, b)

    failed = decided(answer)
    assert failed.attempted and "NotImplementedError" in failed.text()


def test_an_empty_helper_of_another_exercise_is_named():
    def helper(a, b):
        raise NotImplementedError

    def answer(a, b):
        return helper(a, b)

    failed = decided(answer)
    assert failed.attempted and "calls helper, which is still empty" in failed.text()
    assert not decided(helper).attempted and not decided(None).attempted


def test_the_wrong_kind_of_answer_is_told_what_is_needed():
    assert "check got an object of type Tensor; it needs the function itself" in " ".join(decided(A).text().split("\n"))
    assert "it needs the class itself" in " ".join(decided(dot, expects="class").text().split("\n"))


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (lambda a, b: a.dott(b), r"solution of 5\.1 raises in every case \(AttributeError"),
        (lambda a, b: dot(a, b) if len(a) == 3 else a @ b[:2], r"solution of 5\.1 raises in a case \(RuntimeError"),
    ],
)
def test_a_solution_that_raises_is_an_authors_mistake(broken, words):
    with pytest.raises(ValueError, match=words):
        decided(dot, right=broken)


def test_an_answer_that_should_raise_but_returns():
    def refuses(a, b):
        if b.sum() < 1:
            raise ValueError("no")
        return a @ b

    assert "a value, where a ValueError was expected: no" in decided(dot, right=refuses).text()
    assert decided(refuses, right=refuses).passed


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
    assert words in describe_arguments(Case(driver={"seed": 7}, **case)) and "seed" not in describe_arguments(case)


def test_cases_that_are_missing_earn_nothing():
    toy = exercise(dot, CASES)
    decide, observations = decider(toy, CASES), observe(dot, CASES, toy.call)
    assert decide(observations).passed
    observations["cases"].pop()
    assert "2 of 3 cases" in decide(observations).text()
    assert not decide({"answer": "called", "type": "function", "cases": []}).passed


def test_a_quiz_has_no_cases():
    quiz = find("1.7")
    assert cases_of(quiz, 3) == []
    wrong = next(letter for letter in quiz.explanations if letter != quiz.right)
    assert run(quiz, f" {quiz.right.upper()} ").explanation and f"Not {wrong}: " in run(quiz, wrong).text()
    assert "must be one letter in quotes" in run(quiz, "z").text() and not run(quiz, "").attempted
