"""One submission, from bytes to result, as plain nbval would say of an honest one."""

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import handed_in
import pytest
from sandboxed import linux, make_settings, outcomes

from course_checks.catalogue import catalogue
from course_grader import grade
from course_grader.bounded import LimitExceeded
from course_grader.grade import grade_one
from course_grader.limits import Limits
from course_grader.released_notebook import load_releases
from course_grader.result import key


def test_every_exercise_of_the_course_is_released(root):
    releases = load_releases(root / "exercises")
    points = {number: e.points for released in releases.values() for number, e in released.exercises.items()}
    lessons = {number.split(".")[0].zfill(2) for number in points}
    assert points == {number: e.points for number, e in catalogue().items() if number.split(".")[0].zfill(2) in lessons}
    assert lessons == set(releases)


def test_one_lesson(root):
    (released,) = load_releases(root / "exercises", "1").values()
    assert released.stem == handed_in.LESSON_01
    assert {n: e.points for n, e in released.exercises.items()} == handed_in.POINTS_01
    assert released.exercises["1.1"].expression == "dot"
    assert [cell.id for cell in released.cells if cell.role == "answer"][-1] == "answer-1-9"
    assert released.cells[0].role == "provided"


BORROWED = """from course_utils.similarity import dot_product

def dot(a, b):
    return dot_product(a.flatten(), b.flatten())
"""


@linux
def test_solved_blank_and_mixed_earn_what_they_should():
    settings = make_settings()
    for only, earned in ((None, 24), (set(), 0), ({"answer-1-2", "answer-1-5", "quiz-1-7"}, 7)):
        result = grade_one(handed_in.as_bytes(handed_in.solved(only=only)), "x.ipynb", settings)
        assert (result["earned"], result["total"], result["lesson"]) == (earned, 24, "01")
        assert (result["isolation"], result["problem"], result["review"]) == ("bubblewrap", "", False)


@linux
def test_the_same_seed_gives_the_same_result():
    data = handed_in.as_bytes(handed_in.solved(answer_1_1="def dot(a, b):\n    return (a * b).mean()"))
    results = [grade_one(data, "x", make_settings(seed=seed)) for seed in ("a", "a", "b")]
    for result in results:
        result.pop("seconds")
    assert results[0] == results[1]
    first, again = (results[place]["exercises"][0]["mistake"] for place in (0, 2))
    assert first == again and first.startswith("the mean")


@linux
def test_an_instructor_may_allow_what_is_off_limits():
    data = handed_in.as_bytes(handed_in.solved(answer_1_1=BORROWED))
    refused = grade_one(data, "x", make_settings())
    allowed = grade_one(data, "x", make_settings(allowed=frozenset({"1.1"})))
    assert outcomes(refused)["1.1"] == "off limits" and "write it yourself" in refused["exercises"][0]["message"]
    assert outcomes(allowed)["1.1"] == "right" and allowed["earned"] == 24


@linux
def test_no_expected_value_is_in_a_result():
    data = handed_in.as_bytes(handed_in.solved(answer_1_1="def dot(a, b):\n    return (a * b).sum() + 1"))
    message = grade_one(data, "x", make_settings())["exercises"][0]["message"]
    assert "yours 15" in message and "expected" not in message


def test_without_a_sandbox_the_result_says_so():
    data = handed_in.as_bytes(handed_in.solved(only={"answer-1-1"}))
    result = grade_one(data, "x", make_settings(sandbox=False))
    assert (result["earned"], result["isolation"]) == (2, "none")


@pytest.mark.parametrize(
    ("data", "why"), [(b"", "empty"), (b'{"nbformat": 4, "cells": []}', "none of the lessons 01, 02")]
)
def test_what_cannot_be_read_earns_nothing_and_says_why(data, why):
    result = grade_one(data, "x", make_settings())
    assert why in result["problem"] and result["earned"] == result["total"] == 0


@pytest.mark.parametrize("where", ["take_in", "cases_and_decider", "run_and_judge"])
@pytest.mark.parametrize("problem", [RecursionError("too deep"), ZeroDivisionError("zero"), LimitExceeded("too long")])
def test_whatever_is_raised_is_this_submissions_result(monkeypatch, where, problem):
    def raising(*arguments):
        raise problem

    monkeypatch.setattr(grade, where, raising)
    result = grade_one(handed_in.as_bytes(handed_in.solved()), "x", make_settings(sandbox=False))
    assert str(problem) in result["problem"] and result["review"] and result["earned"] == 0


def test_the_courses_own_solution_is_noticed():
    data = (handed_in.ROOT / "solutions" / f"{handed_in.LESSON_01}.ipynb").read_bytes()
    forms = grade.take_in(data, "x", make_settings())[3]
    assert {form["equal_to_solution"] for form in forms.values()} == {True, None}


def test_the_key_changes_with_all_that_a_result_depends_on():
    changes = [
        {"seed": "b"},
        {"partial": True},
        {"limits": Limits(cell_s=1)},
        {"sandbox": False},
        {"allowed": frozenset({"1.1"})},
    ]
    keys = [key(data, make_settings(), lesson) for data in (b"x", b"y") for lesson in ("01", "02")]
    keys += [key(b"x", make_settings(**change), "01") for change in changes]
    assert len(set(keys)) == len(keys)
    alone = make_settings()
    alone.releases.pop("02")
    assert key(b"x", alone, "01") == key(b"x", make_settings(), "01") == keys[0]


@linux
def test_an_answer_in_another_cell_and_every_way_to_fail():
    notebook = handed_in.solved(
        only=set(),
        answer_1_2="def cosine(a, b):\n    retrun a",
        answer_1_3="raise ValueError('no')",
        answer_1_4="import os\nos._exit(3)",
        answer_1_5="",
    )
    notebook["cells"].insert(
        handed_in.position(notebook, "check-1-1"), handed_in.code("def dot(a, b):\n    return (a * b).sum()")
    )
    result = grade_one(handed_in.as_bytes(notebook), "x", make_settings())
    wanted = ["right", "syntax error", "error", "error", "not attempted", "not attempted"]
    assert [outcomes(result)[f"1.{i}"] for i in range(1, 7)] == wanted, result["exercises"]
    assert "line 2 of your answer's cell, `retrun a`" in result["exercises"][1]["message"]
    assert "(a * b).sum()" in result["exercises"][0]["code"]


MIXED = {
    "answer_1_1": "def dot(a, b):\n    return (a * b).mean()",
    "answer_1_4": "def all_pairs_einsum(queries, keys):\n    return queries @ keys.mT",
    "answer_1_5": "def nearest(query, keys, k):\n    return keys[k, 0, 0, 0]",
    "quiz_1_7": 'quiz_1_7 = "x"',
}


def by_nbval(notebook, folder):
    """Exercise -> whether its check cell passed."""
    path, report = folder / "handed_in.ipynb", folder / "report.xml"
    path.write_bytes(handed_in.as_bytes(notebook))
    options = ["--nbval-lax", "--nbval-current-env", "-p", "no:cacheprovider", f"--junitxml={report}"]
    subprocess.run([sys.executable, "-m", "pytest", *options, str(path)], cwd=folder, capture_output=True, check=False)
    passed = [case.find("failure") is None for case in ElementTree.parse(report).iter("testcase")]
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    checks = [(cell["id"], ok) for cell, ok in zip(cells, passed, strict=True) if cell["id"].startswith("check-")]
    return {name.removeprefix("check-").replace("-", "."): ok for name, ok in checks}


@linux
@pytest.mark.parametrize(
    "notebook",
    [
        pytest.param(handed_in.solved(), marks=pytest.mark.slow),
        pytest.param(handed_in.blank(), marks=pytest.mark.slow),
        handed_in.solved(**MIXED),
    ],
    ids=["solved", "blank", "mixed"],
)
def test_plain_nbval_says_the_same(notebook, tmp_path):
    graded = outcomes(grade_one(handed_in.as_bytes(notebook), "x.ipynb", make_settings()))
    assert {number: outcome == "right" for number, outcome in graded.items()} == by_nbval(notebook, tmp_path)
