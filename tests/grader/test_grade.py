"""One submission, from bytes to result."""

import handed_in
import pytest
from sandboxed import EXERCISES, linux, outcomes, terms

from course_grader import grade
from course_grader.bounded import LimitExceeded
from course_grader.grade import grade_one, key
from course_grader.limits import Limits
from course_grader.master import load_masters

BORROWED = "from course_utils.similarity import dot_product as dot"


@linux
def test_solved_blank_and_mixed_earn_what_they_should():
    given = terms()
    for only, earned in ((None, 24), (set(), 0), ({"answer-1-2", "answer-1-5", "quiz-1-7"}, 7)):
        result = grade_one(handed_in.as_bytes(handed_in.solved(only=only)), "x.ipynb", given)
        assert (result["earned"], result["total"], result["lesson"]) == (earned, 24, "01")
        assert (result["isolation"], result["problem"], result["review"]) == ("bubblewrap", "", False)


@linux
def test_the_same_seed_gives_the_same_result():
    data = handed_in.as_bytes(handed_in.solved(answer_1_1="def dot(a, b):\n    return (a * b).mean()"))
    results = [
        grade_one(data, "x", terms(seed=seed, fresh=fresh)) for seed, fresh in (("a", False), ("a", True), ("b", False))
    ]
    for result in results:
        result.pop("seconds")
    assert results[0] == results[1]
    first, again = (results[place]["exercises"][0]["mistake"] for place in (0, 2))
    assert first == again and first.startswith("the mean")


@linux
def test_an_instructor_may_allow_what_is_off_limits():
    data = handed_in.as_bytes(handed_in.solved(answer_1_1=BORROWED))
    refused = grade_one(data, "x", terms())
    allowed = grade_one(data, "x", terms(allowed=frozenset({"1.1"})))
    assert outcomes(refused)["1.1"] == "off limits" and "write it yourself" in refused["exercises"][0]["message"]
    assert outcomes(allowed)["1.1"] == "right" and allowed["earned"] == 24


@linux
def test_no_expected_value_is_in_a_result():
    result = grade_one(
        handed_in.as_bytes(handed_in.solved(answer_1_1="def dot(a, b):\n    return (a * b).sum() + 1")), "x", terms()
    )
    message = result["exercises"][0]["message"]
    assert "yours 15" in message and "expected" not in message


@linux
@pytest.mark.slow
def test_a_new_exercise_needs_no_change_of_the_grader():
    """Every lesson in ``exercises/`` is graded by what its notebook and its check file say."""
    masters = load_masters(EXERCISES)
    given = terms()
    lesson, master = sorted(masters.items())[-1]
    given = terms(limits=Limits(cell_s=60))
    given.masters[lesson] = (master.stem, (EXERCISES / f"{master.stem}.ipynb").read_bytes())
    result = grade_one(handed_in.as_bytes(handed_in.solved(master.stem)), "x", given)
    assert result["earned"] == result["total"] == master.total, outcomes(result)


def test_without_a_sandbox_the_result_says_so():
    data = handed_in.as_bytes(handed_in.solved(only={"answer-1-1"}))
    result = grade_one(data, "x", terms(sandbox=False))
    assert (result["earned"], result["isolation"]) == (2, "none")


@pytest.mark.parametrize(
    ("data", "why"), [(b"", "empty"), (b'{"nbformat": 4, "cells": []}', "none of the lessons 01, 02")]
)
def test_what_cannot_be_read_earns_nothing_and_says_why(data, why):
    result = grade_one(data, "x", terms())
    assert why in result["problem"] and result["earned"] == result["total"] == 0


@pytest.mark.parametrize("where", ["_masters", "take_in", "cases_and_decider", "run_and_judge"])
@pytest.mark.parametrize("problem", [RecursionError("too deep"), ZeroDivisionError("zero"), LimitExceeded("too long")])
def test_whatever_is_raised_is_this_submissions_result(monkeypatch, where, problem):
    def raising(*given):
        raise problem

    monkeypatch.setattr(grade, where, raising)
    result = grade_one(handed_in.as_bytes(handed_in.solved()), "x", terms(sandbox=False))
    assert str(problem) in result["problem"] and result["review"] and result["earned"] == 0


def test_the_courses_own_solution_is_noticed():
    data = (handed_in.ROOT / "solutions" / f"{handed_in.LESSON_01}.ipynb").read_bytes()
    given = terms()
    noticed = grade.take_in(data, "x", given, grade._masters(given))[2].noticed
    assert "own solution" in noticed[0] and "9 of its cells" in noticed[1]


def test_the_key_of_one_lesson_does_not_change_with_another():
    alone = terms()
    alone.masters.pop("02")
    assert key(b"x", alone, "01") == key(b"x", terms(), "01") != key(b"x", terms(), "02")


def test_the_key_changes_with_all_that_a_result_depends_on():
    given = terms()
    changed = [terms(seed="b"), terms(limits=Limits(cell_s=1)), terms(sandbox=False), terms(allowed=frozenset({"1.1"}))]
    keys = [key(b"x", given, "01"), key(b"y", given, "01"), *(key(b"x", other, "01") for other in changed)]
    assert len(set(keys)) == len(keys) and key(b"x", terms(), "01") == keys[0]


@linux
def test_what_is_green_in_jupyterlab_is_right_here():
    plain = {cell["id"]: "".join(cell["source"]) for cell in handed_in.solved()["cells"]}
    first, *others = (plain[f"answer-1-{i}"].strip().split("\n") for i in range(1, 7))
    indented = "\n".join(f"    {line}" for line in first)
    prompts = "\n".join((">>> " if not line[:1].isspace() else "... ") + line for line in others[0] if line.strip())
    notebook = handed_in.solved(
        answer_1_1=indented,
        answer_1_2=prompts,
        answer_1_3="%%time\n" + "\n".join(others[1]),
        answer_1_4="!true \\\n    --quiet\n" + "\n".join(others[2]) + "\n%timeit -n 1 -r 1 1 + 1",
        answer_1_5="\x0c" + "\r\n".join(others[3]) + "\r\n?len",
        answer_1_6='check("1.6", None)\nx = "%d" \\\n    % 3;\n' + "\n".join(others[4]),
    )
    result = grade_one(handed_in.as_bytes(notebook), "x", terms())
    assert result["earned"] == 24 and not result["review"], (outcomes(result), result["noticed"])


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
        handed_in.position(notebook, "check-1-1") + 1, handed_in.code("def dot(a, b):\n    return (a * b).sum()")
    )
    result = grade_one(handed_in.as_bytes(notebook), "x", terms())
    wanted = ["right", "syntax error", "error", "error", "not attempted", "not attempted"]
    assert [outcomes(result)[f"1.{i}"] for i in range(1, 7)] == wanted, result["exercises"]
    assert "line 2 of your answer's cell, `retrun a`" in result["exercises"][1]["message"]
    assert "your answer to 1.1 was found in another cell" in result["restored"]
    assert "(a * b).sum()" in result["exercises"][0]["code"]
