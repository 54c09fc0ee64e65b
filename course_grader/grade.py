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
from .master import Master, parse
from .names import printable
from .reading.answers import Findings, read_answers
from .run_and_judge import run_and_judge
from .running.fork_server import ForkServer
from .running.kernel import Kernel
from .running.library_copy import CHECKS, LIBRARY
from .running.run import Trace
from .running.sandbox import GRADER
from .submissions.belonging import lesson_of, of_the_course
from .submissions.notebook import Unreadable
from .submissions.notebook import parse as parse_notebook
from .submissions.rebuild import Rebuilt, rebuild

SCHEMA = 2
MOST_CODE = 20_000  # characters of an answer that a result keeps
_trusted = threading.Lock()  # checks set PyTorch's global settings for a moment; ast.parse fails in two threads at once


@dataclass(frozen=True)
class Terms:
    """What is the same for a whole class.

    Args:
        masters: Lesson -> (file stem, bytes of the exercise notebook).
        seed: Secret until the grades are out; every exercise's inputs are drawn from it.
        limits: For each submission.
        sandbox: Whether kernels run in a sandbox.
        fresh: Load PyTorch anew for each kernel instead of forking a process that has.
        allowed: Exercises in which what is off limits may be used after all.
    """

    masters: dict[str, tuple[str, bytes]]
    seed: str
    limits: Limits = field(default_factory=Limits)
    sandbox: bool = True
    fresh: bool = False
    allowed: frozenset[str] = frozenset()

    def digest(self, lesson: str) -> str:
        """Of everything that a result of a lesson depends on besides the submission."""
        parts = [repr(self.masters.get(lesson)), repr(self.limits), repr(self.sandbox), self.seed]
        parts += [repr(sorted(self.allowed)), course_digest()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def key(data: bytes, terms: Terms, lesson: str) -> str:
    """What a result is known by: the same key, the same result."""
    return hashlib.sha256(data + b"\0" + terms.digest(lesson).encode()).hexdigest()


@functools.cache
def course_digest() -> str:
    """Of the code of library, checks and grader, and of the solutions that the checks hold."""
    digest = hashlib.sha256()
    for package in (LIBRARY, CHECKS, GRADER):
        for path in sorted([*package.rglob("*.py"), *package.rglob("*.json")]):
            name = path.relative_to(package.parent).as_posix().encode()
            digest.update(name + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def grade_one(data: bytes, label: str, terms: Terms) -> dict:
    """Grade one notebook. Whatever goes wrong is this notebook's result, and nothing else's.

    Args:
        data: The file.
        label: What it is called.
        terms: As for the whole class.

    Returns:
        A result, ready for JSON: lesson, exercises, earned, total, problem, what was noticed, and what graded it.
    """
    try:
        return _graded(data, label, terms)
    except Unreadable as problem:
        return unreadable(str(problem), terms)
    except LimitExceeded as problem:
        return unreadable(str(problem), terms) | {"review": True}
    except Exception as problem:
        return failed(problem, terms)


def _graded(data: bytes, label: str, terms: Terms) -> dict:
    with _trusted:
        masters = _masters(terms)
    lesson, rebuilt, findings = bounded(take_in, data, label, terms, masters)
    master = masters[lesson]
    with _trusted:
        calls = {number: _sent(number, terms.seed) for number in master.exercises}
    fork_server = own_fork_server() if terms.sandbox else None
    if fork_server and terms.fresh:
        fork_server.close()
    probes = {
        number: (exercise.expression, calls[number], number not in terms.allowed)
        for number, exercise in master.exercises.items()
    }

    def judge(trace: Trace, numbers: Collection[str]) -> list[ExerciseScore]:
        with _trusted:
            return score_exercises(master, rebuilt, trace, findings, terms.seed, numbers)

    def kernel(deadline: float, library: Path) -> Kernel:
        return Kernel(terms.limits, deadline, fork_server, library)

    trace, scores = run_and_judge(rebuilt.steps, probes, terms.limits, kernel, judge)
    result = _result(terms, lesson, scores)
    for exercise in result["exercises"]:
        exercise["code"] = rebuilt.answer(exercise["number"])[:MOST_CODE]
    to_review = findings.to_review({score.number for score in scores if score.earned})
    return result | {
        "restored": [printable(line, 200) for line in rebuilt.noticed],
        "noticed": [printable(line, 300) for line in to_review],
        "events": [printable(line, 200) for line in trace.events],
        "review": bool(to_review),
        "seconds": round(trace.seconds, 3),
    }


def _sent(number: str, seed: str) -> dict:
    """How an answer is called, and the cases it is called on: all that the student's kernel is told of an exercise."""
    return {"call": find(number).call.sent(), "cases": [case.sent() for case in cases_and_decider(number, seed)[0]]}


def take_in(data: bytes, label: str, terms: Terms, masters: dict[str, Master]) -> tuple[str, Rebuilt, Findings]:
    """A file as a lesson's notebook with the student's answers in it, and what reading them brought.

    Raises:
        Unreadable: It is no notebook, or belongs to no lesson.
    """
    cells, metadata = parse_notebook(data)
    lesson = lesson_of(cells, metadata, label, masters)
    if lesson is None:
        raise Unreadable(f"it belongs to none of the lessons {', '.join(masters)}")
    exercises = masters[lesson].exercises
    rebuilt = rebuild(masters[lesson], cells)
    expressions = {number: exercise.expression for number, exercise in exercises.items()}
    guarded = {n: names for n in exercises if (names := find(n).call.off_limits) and n not in terms.allowed}
    findings = read_answers(rebuilt.steps, expressions, guarded)
    return lesson, rebuilt, replace(findings, noticed=(*of_the_course(cells, metadata), *findings.noticed))


def unreadable(problem: str, terms: Terms) -> dict:
    """The result of a file that is no notebook."""
    return _result(terms, "", []) | {"problem": printable(problem, 200)}


def failed(problem: Exception, terms: Terms) -> dict:
    """The result of a submission at which the grader itself failed."""
    return unreadable(f"could not be graded: {type(problem).__name__}: {problem}", terms) | {"review": True}


def _result(terms: Terms, lesson: str, scores: list[ExerciseScore]) -> dict:
    return {
        "schema": SCHEMA,
        "lesson": lesson,
        "exercises": [asdict(score) for score in scores],  # and ``code``, what the student wrote
        "earned": sum(score.earned for score in scores),
        "total": sum(score.points for score in scores),
        "problem": "",
        "restored": [],  # what the rebuilt notebook does not take over
        "noticed": [],  # what an instructor may want to look at
        "events": [],  # what ended kernels
        "review": False,
        "seconds": 0.0,
        "seed": terms.seed,
        "isolation": "bubblewrap" if terms.sandbox else "none",
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "course": course_digest()[:16]},
    }


@functools.lru_cache(maxsize=64)
def _parsed(stem: str, data: bytes) -> Master:
    return parse(stem, data)


def _masters(terms: Terms) -> dict[str, Master]:
    return {lesson: _parsed(stem, data) for lesson, (stem, data) in terms.masters.items()}


_of_thread = threading.local()


def own_fork_server() -> ForkServer:
    """The fork_server of the thread that asks."""
    fork_server = getattr(_of_thread, "fork_server", None)
    if fork_server is None:
        fork_server = _of_thread.fork_server = ForkServer()
        atexit.register(fork_server.close)
    return fork_server


def masters_as_bytes(folder: Path, masters: dict[str, Master]) -> dict[str, tuple[str, bytes]]:
    """The masters' files, as ``Terms`` carries them to another process or machine."""
    return {lesson: (m.stem, (folder / f"{m.stem}.ipynb").read_bytes()) for lesson, m in masters.items()}
