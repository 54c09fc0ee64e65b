"""From observations alone to a message: what differs, said in words; what is decided; how a student reads it."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from toy_exercises import exercise, verdict

from course_checks.deciding.compare import Difference, difference
from course_checks.deciding.decide import cases_of, decider, describe_arguments
from course_checks.deciding.find import find
from course_checks.deciding.verdict import MAX_LINES, WIDTH, Verdict
from course_checks.engine import run
from course_checks.running.call import Case
from course_checks.running.encode import encode
from course_checks.running.observe import observe

T = torch.arange(6.0).view(2, 3)
ONE_OFF = T + torch.tensor([[0, 0, 0], [0, 1.0, 0]])
ODD = torch.tensor([math.nan, math.inf])


def compared(expected, actual, names=("weights",), rtol=1e-4, atol=1e-5):
    return difference(encode(expected), encode(actual), names, rtol, atol)


def test_equal_enough():
    for expected, actual in (
        (T, T + 1e-6),
        (torch.nn.Parameter(T), T),
        (ODD, ODD.clone()),
        ({"a": T}, {"a": T.clone()}),
    ):
        assert compared(expected, actual) is None
    for expected, actual in ((torch.tensor(14.0), 14), (14.0, torch.tensor(14.0).double()), (0.5, np.float32(0.5))):
        assert compared(expected, actual) is None
    assert compared([1, 2], (1, 2)) is None and compared("x", "x") is None


@pytest.mark.parametrize(
    ("expected", "actual", "sentence"),
    [
        (T, T.T, "weights: the shape differs: yours (3, 2), expected (2, 3)"),
        (T, T.double(), "weights: the dtype differs: yours float64, expected float32"),
        (T, T.numpy(), "weights: you returned a numpy array of shape (2, 3), expected a tensor of shape (2, 3); make"),
        (T, None, "weights: you returned None (is the return line missing?), expected a tensor"),
        (T, ONE_OFF, "17 % of the values differ; first at [1, 1]: yours 5, expected 4"),
        (T, T / 0, "NaN in 1 of 6 values; first difference at [0, 0]: yours nan, expected 0"),
        (T, T.tolist(), "weights: you returned a list of 2, expected a tensor of shape (2, 3); torch.tensor"),
        (T, T.to_sparse(), "cannot be read"),
        (2.0, 3.0, "weights: the value differs: yours 3, expected 2"),
        (2.0, 2.00049, "weights: the value differs: yours 2.0005, expected 2"),
        (2, 2**70, "weights: the value differs"),
        (2.0, 10**400, "weights: the value differs"),
        ("a", "b", "weights: the value differs: yours 'b', expected 'a'"),
        (True, False, "weights: the value differs: yours False, expected True"),
        (True, "yes", "you returned the str 'yes', expected a number"),
        ([1, 2], [1, 3], "weights[1]: the value differs: yours 3, expected 2"),
        ([1, 2], [1], "weights: it has 1 items, expected 2"),
        ([1, 2], 5, "weights: you returned the int 5, expected a list of 2"),
        ({"a": 1}, {"b": 1}, "weights: the keys differ: yours 'b', expected 'a'"),
        ({"a": 1}, {"a": 2}, "weights['a']: the value differs"),
    ],
)
def test_differences_in_words(expected, actual, sentence):
    assert sentence in compared(expected, actual).sentence()


def test_parts_are_compared_by_name():
    names = ("output", "weights")
    assert compared((T, T), [T, T], names) is None
    assert compared((T, T), (T, T + 1), names).where == "weights"
    assert "3 parts; expected 2: output, weights" in compared((T, T), (T, T, T), names).sentence()
    assert "a tensor of shape (2, 3); expected 2 parts" in compared((T, T), T, names).sentence()
    # two mistakes may return equally wrong numbers of parts
    assert compared((T, T, T), (T, T, T), names) is None and compared((T, T, T), (T, T, T + 1), names) is not None


def test_tolerance_is_the_exercises_own_but_tight_on_float64_and_wide_on_half_precision():
    assert compared(T, T + 1e-3) is not None and compared(T, T + 1e-3, atol=1e-2) is None
    assert compared(T.double(), T.double() + 1e-7) is not None
    for dtype, near, far in ((torch.float16, 1e-3, 4e-3), (torch.bfloat16, 8e-3, 4e-2)):
        ones = torch.ones(2, 3, dtype=dtype)
        assert compared(ones, ones + near) is None and compared(ones, ones + far) is not None


A, B = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, -5.0, 6.0])
CASES = [Case(a=A, b=B), Case(a=torch.arange(7.0), b=torch.arange(7.0).cos()), Case(a=-A, b=B)]


def dot(a, b):
    return (a * b).sum()


def decided(answer, right=dot, **fields):
    return verdict(right, answer, *CASES, **fields)


def test_right_on_the_example_only_is_refused():
    failed = decided(lambda a, b: torch.tensor(12.0 if a[0] else 3.0))
    assert not failed.passed and failed.case == 1 and "a = [0.0, 1.0, 2.0, 3.0, " in failed.called_with
    assert failed.right_in == (True, False, False)
    assert decided(lambda a, b: a @ b).passed


def test_an_error_names_the_students_line_and_no_stack():
    text = decided(lambda a, b: undefined_name).text()  # noqa: F821
    assert "your code stopped at line" in text and "NameError: name 'undefined_name' is not defined" in text
    assert "observe.py" not in text and "misspelled" in text


def test_off_limits_says_so():
    failed = decided(lambda a, b: torch.softmax(a, -1), off_limits=("torch.softmax",))
    assert not failed.passed and failed.attempted and failed.right_in == ()
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


LONG = "word " * 200
FAILED = Verdict(
    "5.1",
    2,
    False,
    difference=Difference("mask", "the value differs", "1", "2"),
    called_with="n = 3",
    found_by="symptom",
    looks_like="one too little.",
    advice="count again.",
)


def test_a_message_never_outgrows_the_screen():
    long = replace(
        FAILED, what=LONG, difference=Difference(*[LONG] * 4), called_with=LONG, looks_like=LONG, advice=LONG
    )
    lines = long.text().split("\n")
    assert len(lines) <= MAX_LINES and max(map(len, lines)) <= WIDTH
    for label in ("Called with: ", "It looks like: "):
        assert any(line.startswith(label) for line in lines)


def test_the_shapes_behind_a_long_sentence_are_not_cut():
    message = "The size of tensor a must match the size of tensor b at non-singleton dimension 2, " * 3
    text = replace(FAILED, difference=Difference("your code stopped", f"RuntimeError: {message}(7) against (5)")).text()
    assert "(7) against (5)" in text


def test_points():
    assert Verdict("1.1", 1, True).text() == "✓ 1.1 right · 1 of 1 point"
    assert Verdict("1.1", 2, False, attempted=False).text() == "1.1 not attempted yet · 0 of 2 points"
    assert (Verdict("1.1", 2, True).earned, Verdict("1.1", 2, False).earned) == (2, 0)


def test_what_to_try_can_be_kept_for_later():
    assert "Try: count again." in FAILED.text()
    first = FAILED.text(in_notebook=True, remedy=False)
    assert (
        "count again" not in first
        and "(hint(), in a new cell, says what to try)" in first
        and "It looks like: one too" in first
    )
    assert "hint()" not in FAILED.text(in_notebook=True) and "hint()" not in FAILED.text(remedy=False)
    assert "hint()" not in replace(FAILED, advice="").text(in_notebook=True, remedy=False)


def test_only_a_notebook_hands_out_the_case():
    assert "failing_case()" in FAILED.text(in_notebook=True) and "failing_case()" not in FAILED.text()
    assert "failing_case()" not in replace(FAILED, called_with="").text(in_notebook=True)


def test_the_right_value_can_be_kept_back():
    assert "expected 2" in FAILED.text() and "expected" not in FAILED.text(show_expected=False)


def test_cases_that_differ_are_said_to_be_where_it_fails():
    assert "Where it fails: one too" in replace(FAILED, found_by="contrast").text()


def test_control_characters_and_html_do_no_harm():
    text = Verdict("1.1", 2, False, what="\x1b[31mred\x07").text()
    assert "\x1b" not in text and "\x07" not in text
    assert "<script>" not in Verdict("1.1", 2, True, explanation="<script>").html()
