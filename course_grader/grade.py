"""Grading one submission: from the file's bytes to a result. The same function on every core and every machine."""

import atexit
import threading
from collections.abc import Collection

from course_checks.deciding.find import find

from .bounded import LimitExceeded, bounded
from .judging.score import ExerciseScore, cases_and_decider, score_exercises
from .names import printable
from .reading.answers import Findings, named_cells, read_answers
from .result import GradingSettings, failed, new_result, unreadable
from .run_again import SecondRun
from .run_and_judge import Runs, run_and_judge
from .running.kernel import Kernel
from .running.launch import ForkServer
from .running.run import Probe, RunLog
from .submissions.identify import lesson_of
from .submissions.normal_form import compared
from .submissions.notebook import Unreadable, parse
from .submissions.rebuild import RebuiltNotebook, rebuild

MOST_CODE = 20_000  # characters of an answer that a result keeps
_trusted = threading.Lock()  # checks set PyTorch's global settings for a moment; ast.parse fails in two threads at once


def grade_one(data: bytes, label: str, settings: GradingSettings) -> dict:
    """Grade one notebook. Whatever goes wrong is this notebook's result (``new_result``), and nothing else's.

    ``label`` is what the file is called.
    """
    try:
        return _graded(data, label, settings)
    except Unreadable as problem:
        return unreadable(str(problem), settings)
    except LimitExceeded as problem:
        return unreadable(str(problem), settings) | {"review": True}
    except Exception as problem:
        return failed(problem, settings)


def _graded(data: bytes, label: str, settings: GradingSettings) -> dict:
    lesson, rebuilt, findings, forms = bounded(take_in, data, label, settings)
    released = settings.releases[lesson]
    with _trusted:
        cases = {number: cases_and_decider(number, settings.seed)[0] for number in released.exercises}
        sent = {n: {"call": find(n).call.sent(), "cases": [case.sent() for case in cases[n]]} for n in cases}
    fork_server = own_fork_server() if settings.sandbox else None
    probes = {
        number: Probe(exercise.expression, sent[number], number not in settings.allowed)
        for number, exercise in released.exercises.items()
    }

    def judge(run_log: RunLog, numbers: Collection[str]) -> list[ExerciseScore]:
        with _trusted:
            return score_exercises(released, rebuilt, run_log, findings, settings.seed, numbers, settings.partial)

    runs = Runs(settings.limits, lambda deadline, library: Kernel(settings.limits, deadline, fork_server, library))
    run_log, scores, without = run_and_judge(rebuilt.steps, probes, runs, judge)
    again = SecondRun(rebuilt.steps, findings.reached, probes, runs, judge)
    to_review = again.of(scores, without)
    result = new_result(settings, lesson, list(scores.values()))
    for exercise in result["exercises"]:
        exercise |= {"code": rebuilt.answer(exercise["number"])[:MOST_CODE], **forms[exercise["number"]]}
    return result | {
        "restored": [printable(line, 200) for line in rebuilt.noticed],
        "noticed": [printable(line, 300) for line in to_review],
        "cells": {name: text[:MOST_CODE] for name, text in named_cells(rebuilt.steps, to_review).items()},
        "events": [printable(line, 200) for line in run_log.events],
        "review": bool(to_review),
        "seconds": round(runs.seconds, 3),
    }


def take_in(data: bytes, label: str, settings: GradingSettings) -> tuple[str, RebuiltNotebook, Findings, dict]:
    """A file as a lesson's notebook with the student's answers in it, what reading them brought, and their forms."""
    cells, _ = parse(data)
    lesson = lesson_of(cells, settings.releases)
    if lesson is None:
        raise Unreadable(f"it belongs to none of the lessons {', '.join(settings.releases)}")
    released = settings.releases[lesson]
    exercises, rebuilt = released.exercises, rebuild(released, cells)
    expressions = {number: exercise.expression for number, exercise in exercises.items()}
    products = {n for n in exercises if "torch.matmul" in find(n).call.off_limits}
    findings = read_answers(rebuilt.steps, expressions, frozenset(products - settings.allowed))
    forms = {n: compared(n, name, rebuilt.answer(n), released.answer(n)) for n, name in expressions.items()}
    return lesson, rebuilt, findings, forms


_of_thread = threading.local()


def own_fork_server() -> ForkServer:
    """The fork server of the thread that asks."""
    if not hasattr(_of_thread, "fork_server"):
        _of_thread.fork_server = ForkServer()
        atexit.register(_of_thread.fork_server.close)
    return _of_thread.fork_server
