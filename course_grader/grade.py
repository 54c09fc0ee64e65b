"""Grading one submission: from the file's bytes to a result. The same function on every core and every machine."""

import atexit
import functools
import hashlib
import platform
import threading
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch

from course_checks.deciding.find import find

from .bounded import LimitExceeded, bounded
from .judging.score import ExerciseScore, cases_and_decider, score_exercises
from .limits import Limits
from .names import printable
from .reading.answers import Findings, read_answers
from .released_notebook import ReleasedNotebook
from .run_and_judge import run_and_judge
from .running.fork_server import ForkServer
from .running.kernel import Kernel
from .running.library_copy import CHECKS, LIBRARY
from .running.run import RunLog
from .running.sandbox import GRADER
from .submissions.identify import lesson_of, signs_of_copying
from .submissions.normal_form import compared
from .submissions.notebook import Unreadable, parse
from .submissions.rebuild import RebuiltNotebook, rebuild

SCHEMA = 3
MOST_CODE = 20_000  # characters of an answer that a result keeps
_trusted = threading.Lock()  # checks set PyTorch's global settings for a moment; ast.parse fails in two threads at once


@dataclass(frozen=True)
class GradingSettings:
    """What is the same for a whole class."""

    releases: dict[str, ReleasedNotebook]  # of the lessons that are graded
    seed: str  # secret until the grades are out; every exercise's inputs are drawn from it
    limits: Limits = field(default_factory=Limits)  # for each submission
    sandbox: bool = True  # whether kernels run in a sandbox
    fresh: bool = False  # load PyTorch anew for each kernel instead of forking a process that has
    allowed: frozenset[str] = frozenset()  # exercises in which what is off limits may be used after all
    partial: bool = False  # whether an answer that is wrong in special cases only earns a part of the points

    def digest(self, lesson: str) -> str:
        """Of everything that a result of a lesson depends on besides the submission."""
        parts = [repr(self.releases.get(lesson)), repr(self.limits), repr(self.sandbox), self.seed]
        parts += [repr(sorted(self.allowed)), repr(self.partial), course_digest()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def key(data: bytes, settings: GradingSettings, lesson: str) -> str:
    """What a result is known by: the same key, the same result."""
    return hashlib.sha256(data + b"\0" + settings.digest(lesson).encode()).hexdigest()


@functools.cache
def course_digest() -> str:
    """Of the code of library, checks and grader, and of the solutions that the checks hold."""
    digest = hashlib.sha256()
    for package in (LIBRARY, CHECKS, GRADER):
        for path in sorted([*package.rglob("*.py"), *package.rglob("*.json")]):
            name = path.relative_to(package.parent).as_posix().encode()
            digest.update(name + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def grade_one(data: bytes, label: str, settings: GradingSettings) -> dict:
    """Grade one notebook. Whatever goes wrong is this notebook's result, and nothing else's.

    Args:
        data: The file.
        label: What it is called.
        settings: As for the whole class.

    Returns:
        A result, ready for JSON: lesson, exercises, earned, total, problem, what was noticed, and what graded it.
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
        calls = {number: _sent(number, settings.seed) for number in released.exercises}
    fork_server = own_fork_server() if settings.sandbox else None
    if fork_server and settings.fresh:
        fork_server.close()
    checks = {
        number: (exercise.expression, calls[number], number not in settings.allowed)
        for number, exercise in released.exercises.items()
    }

    def judge(run_log: RunLog, numbers: Collection[str]) -> list[ExerciseScore]:
        with _trusted:
            return score_exercises(released, rebuilt, run_log, findings, settings.seed, numbers, settings.partial)

    def kernel(deadline: float, library: Path) -> Kernel:
        return Kernel(settings.limits, deadline, fork_server, library)

    run_log, results = run_and_judge(rebuilt.steps, checks, settings.limits, kernel, judge)
    result = _result(settings, lesson, results)
    for exercise in result["exercises"]:
        exercise |= {"code": rebuilt.answer(exercise["number"])[:MOST_CODE], **forms[exercise["number"]]}
    to_review = findings.to_review({exercise.number for exercise in results if exercise.earned})
    return result | {
        "restored": [printable(line, 200) for line in rebuilt.noticed],
        "noticed": [printable(line, 300) for line in to_review],
        "events": [printable(line, 200) for line in run_log.events],
        "review": bool(to_review),
        "seconds": round(run_log.seconds, 3),
    }


def _sent(number: str, seed: str) -> dict:
    """How an answer is called, and the cases it is called on: all that the student's kernel is told of an exercise."""
    return {"call": find(number).call.sent(), "cases": [case.sent() for case in cases_and_decider(number, seed)[0]]}


def take_in(data: bytes, label: str, settings: GradingSettings) -> tuple[str, RebuiltNotebook, Findings, dict]:
    """A file as a lesson's notebook with the student's answers in it, what reading them brought, and their forms.

    Raises:
        Unreadable: It is no notebook, or belongs to no lesson.
    """
    cells, metadata = parse(data)
    lesson = lesson_of(cells, metadata, label, settings.releases)
    if lesson is None:
        raise Unreadable(f"it belongs to none of the lessons {', '.join(settings.releases)}")
    released = settings.releases[lesson]
    exercises, rebuilt = released.exercises, rebuild(released, cells)
    expressions = {number: exercise.expression for number, exercise in exercises.items()}
    guarded = {n: names for n in exercises if (names := find(n).call.off_limits) and n not in settings.allowed}
    findings = read_answers(rebuilt.steps, expressions, guarded)
    forms = {n: compared(n, name, rebuilt.answer(n), released.answer(n)) for n, name in expressions.items()}
    return lesson, rebuilt, replace(findings, noticed=(*signs_of_copying(cells, metadata), *findings.noticed)), forms


def unreadable(problem: str, settings: GradingSettings) -> dict:
    """The result of a file that is no notebook."""
    return _result(settings, "", []) | {"problem": printable(problem, 200)}


def failed(problem: Exception, settings: GradingSettings) -> dict:
    """The result of a submission at which the grader itself failed."""
    return unreadable(f"could not be graded: {type(problem).__name__}: {problem}", settings) | {"review": True}


def _result(settings: GradingSettings, lesson: str, results: list[ExerciseScore]) -> dict:
    return {
        "schema": SCHEMA,
        "lesson": lesson,
        "exercises": [asdict(exercise) for exercise in results],  # and ``code``, with what ``compared`` says of it
        "earned": sum(exercise.earned for exercise in results),
        "total": sum(exercise.points for exercise in results),
        "problem": "",
        "restored": [],  # what the rebuilt notebook does not take over
        "noticed": [],  # what an instructor may want to look at
        "events": [],  # what ended kernels
        "review": False,
        "seconds": 0.0,
        "seed": settings.seed,
        "isolation": "bubblewrap" if settings.sandbox else "none",
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "course": course_digest()[:16]},
    }


_of_thread = threading.local()


def own_fork_server() -> ForkServer:
    """The fork_server of the thread that asks."""
    fork_server = getattr(_of_thread, "fork_server", None)
    if fork_server is None:
        fork_server = _of_thread.fork_server = ForkServer()
        atexit.register(fork_server.close)
    return fork_server
