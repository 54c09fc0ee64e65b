"""From what a kernel sent to points: nothing is earned that was not asked, answered and right."""

import base64
import time

import handed_in
import pytest
import torch

from course_checks.deciding.find import find
from course_checks.lesson_01.found_shares import POSSIBLE
from course_checks.running import observe_answer
from course_checks.running.call import Case
from course_checks.running.encode import pack
from course_grader.bounded import own_process
from course_grader.judging.score import cases_and_decider, score_exercises, share_right
from course_grader.outcomes import WORDS
from course_grader.reading.answers import Findings
from course_grader.released_notebook import load_releases
from course_grader.running.run import RunLog
from course_grader.submissions.rebuild import NotebookStep, RebuiltNotebook

SEED = "s"


@pytest.fixture(scope="module")
def released(root):
    return load_releases(root / "exercises", "01")["01"]


def sent(number, answer):
    text, data = pack(observe_answer(answer, find(number).call, cases_and_decider(number, SEED)[0], guarded=False))
    return {"text": text, "data": base64.b64encode(data).decode()}


def marked(released, number, seen=None, lost=None, broken=None, missing=(), unread=None, text="x", **options):
    run_log = RunLog(observed={number: seen} if seen else {}, lost={number: lost} if lost else {})
    run_log.cell_errors = {number: broken} if broken else {}
    rebuilt = RebuiltNotebook((NotebookStep("answer", text, number),), (), frozenset(missing))
    findings = Findings({}, syntax_errors={number: unread} if unread else {})
    found = score_exercises(released, rebuilt, run_log, findings, SEED, **options)
    assert {one.outcome for one in found} <= WORDS.keys()
    assert [one.number for one in found] == list(handed_in.POINTS_01)
    assert all(one.earned == 0 for one in found if one.number != number)
    return next(one for one in found if one.number == number)


def test_right_and_wrong(released):
    right = marked(released, "1.1", sent("1.1", find("1.1").right))
    assert (right.outcome, right.earned, right.points) == ("right", 2, 2)
    wrong = marked(released, "1.1", sent("1.1", lambda a, b: (a * b).mean()))
    assert (wrong.outcome, wrong.earned) == ("wrong", 0) and "expected" not in wrong.message
    assert wrong.mistake.startswith("the mean") and "Try: " in wrong.message  # diagnosis and remedy


def no_guard(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))


def test_a_part_of_the_points_is_an_option(released):
    part = marked(released, "1.2", sent("1.2", no_guard), partial=True)
    assert (part.outcome, part.earned, part.points) == ("in part", 1.5, 3) and "NaN" in part.message
    assert marked(released, "1.2", sent("1.2", no_guard)).earned == 0
    right = marked(released, "1.2", sent("1.2", find("1.2").right), partial=True)
    assert (right.outcome, right.earned) == ("right", 3)


@pytest.mark.parametrize(
    "answer", [lambda a, b: a[:, 0] * 0, lambda a, b: 1 / 0, None], ids=["zeros", "raises", "unreadable"]
)
def test_what_earns_no_part(released, answer):
    """Wrong in the ordinary cases, or nothing there to be judged: however many special cases it hits."""
    seen = sent("1.2", answer) if answer else {"text": 7}
    assert marked(released, "1.2", seen, partial=True).earned == 0


def test_the_share_goes_by_kinds_of_cases():
    cases = [Case(x=1), Case(x=2), Case("zero", x=0), Case("zero", x=-0.0), Case("long", x=9)]
    shares = {(1, 1, 1, 1, 0): 2 / 3, (1, 1, 1, 0, 0): 1 / 3, (1, 0, 1, 1, 1): 0, (1, 1, 1, 1, 1): 1}
    assert {right: share_right(right, cases) for right in shares} == shares
    assert share_right((True, False), cases[3:]) == 0.5  # no case is ordinary


@pytest.mark.parametrize(
    ("decide", "words"), [(lambda seen: time.sleep(30), "longer than 0.5 s"), (lambda seen: 1 / 0, "ZeroDivisionError")]
)
def test_a_judge_that_fails_or_takes_too_long_costs_one_exercise(released, monkeypatch, decide, words):
    seen, started = sent("1.1", find("1.1").right), time.monotonic()
    monkeypatch.setattr("course_grader.judging.score.cases_and_decider", lambda number, seed: ([], decide))
    monkeypatch.setattr("course_grader.judging.score.JUDGING_S", 0.5)
    own_process().close()  # one that was forked before knows nothing of these changes
    found = marked(released, "1.1", seen)
    own_process().close()
    assert (found.outcome, found.earned) == ("unreadable", 0) and words in found.message
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("length", [900, 8_000, 19_000])
@pytest.mark.parametrize(
    ("item", "container"), [(0.1, "list"), (torch.ones(()), "list"), ("a, b", "list"), (1, "dict")]
)
def test_a_long_list_is_told_as_what_it_is(released, length, item, container):
    value = [item] * length if container == "list" else dict.fromkeys(range(length), item)
    seen, started = sent("1.1", lambda a, b: value), time.monotonic()
    assert len(seen["text"]) + len(seen["data"]) < 2_000_000
    one = marked(released, "1.1", seen)
    assert one.outcome == "wrong" and f"you returned a {container} of {length}, expected a tensor" in one.message
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("given", "outcome", "words"),
    [
        ({}, "unreadable", "no observation"),
        ({"lost": "the check could not run: E: no"}, "unreadable", "E: no"),
        ({"lost": "time limit"}, "time limit", "did not finish"),
        ({"seen": {"undefined": "x"}, "broken": ("time limit", "stopped after 8 s")}, "time limit", "did not finish"),
        ({"lost": "notebook time limit"}, "not reached", "whole notebook"),
        ({"lost": "the kernel was lost too often"}, "not reached", "not reached"),
        ({"lost": "memory"}, "memory", "more memory"),
        ({"lost": "output limit"}, "output limit", "too large"),
        ({"lost": "the kernel was ended by SIGKILL"}, "error", "SIGKILL"),
        ({"seen": {"undefined": "x"}}, "missing", "Nothing is called dot"),
        ({"seen": {"undefined": "x"}, "text": " "}, "not attempted", "empty"),
        ({"seen": {"undefined": "x"}, "broken": ("ValueError", "no")}, "error", "ValueError: no"),
        ({"seen": {"undefined": "x"}, "broken": ("SyntaxError", "bad (x.py)")}, "syntax error", "bad (x.py)"),
        (
            {"seen": {"undefined": "x"}, "broken": ("SyntaxError", "bad (x.py)"), "unread": (3, "x = =", "bad")},
            "syntax error",
            "line 3 of your answer's cell, `x = =`: bad",
        ),
        ({"seen": {"undefined": "x"}, "missing": ["1.1"]}, "missing", "missing from the notebook"),
        ({"seen": {"text": "{}", "data": ""}}, "unreadable", "could not be read"),
        ({"seen": {"text": 7}}, "unreadable", "could not be read"),
    ],
)
def test_everything_else_earns_nothing(released, given, outcome, words):
    one = marked(released, "1.1", **given)
    assert (one.outcome, one.earned) == (outcome, 0) and words in one.message


@pytest.mark.parametrize(
    ("broken", "outcome", "words"),
    [
        (("time limit", "stopped after 120 s"), "time limit", "did not finish in the time it had"),
        (("KeyError", "'all'"), "error", "stopped with KeyError: 'all'"),
    ],
)
def test_half_of_an_experiment_is_told_why_it_is_half(released, broken, outcome, words):
    """Not that entries are missing, which a slow machine may have cut off; what is whole is judged by what it is."""
    levels = dict(zip(POSSIBLE, (0.05, 0.6, 0.8, 0.9), strict=True))
    half = {key: [level + 0.001 * split for split in range(5)] for key, level in levels.items()}
    right = half | {"larger gain": "table", "seeds where cosine wins": 5, "cosine reliably better": True}
    assert marked(released, "1.9", sent("1.9", half)).outcome == "wrong"
    one = marked(released, "1.9", sent("1.9", half), broken=broken)
    assert (one.outcome, one.earned) == (outcome, 0) and words in one.message
    assert marked(released, "1.9", sent("1.9", right), broken=broken).outcome == "right"
    assert marked(released, "1.1", sent("1.1", lambda a, b: (a * b).mean()), broken=broken).outcome == "wrong"


def test_another_exercises_observations_do_not_count(released):
    assert marked(released, "1.7", sent("1.1", find("1.1").right)).outcome != "right"
    assert marked(released, "1.1", sent("1.7", find("1.7").right)).outcome != "right"
    assert marked(released, "1.2", sent("1.1", find("1.1").right)).outcome != "right"


def test_inputs_differ_by_seed_and_exercise():
    first = cases_and_decider("1.1", "a")
    assert str(first[0]) != str(cases_and_decider("1.1", "b")[0]) and cases_and_decider("1.1", "a") is first
