"""From what a kernel sent to what an answer earns. No student code runs here."""

import functools
import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.deciding.verdict import Verdict
from course_checks.running.encode import Tree
from course_checks.running.neutral_state import neutral_state

from ..bounded import TooMuch, time_bound
from ..reading.answers import Reading
from ..released_notebook import ReleasedExercise, ReleasedNotebook
from ..running.run import TOO_LONG, RunLog
from ..submissions.rebuild import RebuiltNotebook
from .observations import Malformed, take_apart

OUTCOMES = (
    *("right", "wrong", "not attempted", "missing", "off limits", "syntax error", "error", "time limit", "memory"),
    *("output limit", "not reached", "unreadable"),
)
LOST = {  # why a kernel ended -> outcome and what the student reads
    "time limit": ("time limit", "Your code did not finish in the time it had. Look for a loop that never ends."),
    "notebook time limit": (
        "not reached",
        "The whole notebook took longer than it may; this exercise was not reached.",
    ),
    "memory": ("memory", "Your code used more memory than it may."),
    "output limit": ("output limit", "Your code printed more than it may."),
    "the kernel was lost too often": (
        "not reached",
        "Cells before this one ended Python again and again; this exercise was not reached.",
    ),
}
ENDED = "the kernel "
NOT_PYTHON = ("SyntaxError", "IndentationError", "TabError")

JUDGING_S = 10.0  # for one exercise


@dataclass(frozen=True)
class ExerciseResult:
    """What one exercise earned and why.

    Args:
        number: The exercise.
        points: What it is worth.
        earned: What it earned.
        outcome: One of ``OUTCOMES``.
        message: What the student may read; no right value in it.
        mistake: What the answer was seen to do, by name.
        found_by: How that was found (``Verdict.found_by``).
    """

    number: str
    points: float
    earned: float
    outcome: str
    message: str
    mistake: str | None = None
    found_by: str = ""


@functools.lru_cache(maxsize=512)
def cases_and_judge(number: str, seed: str) -> tuple[list, Callable[[Tree], Verdict]]:
    """An exercise's fresh inputs, and its judge on them; worked out once for a whole class."""
    entry = find(number)
    digest = hashlib.sha256(f"{seed}/{number}".encode()).digest()
    with neutral_state():
        inputs = cases_of(entry, int.from_bytes(digest[:4], "big") >> 1)
    return inputs, decider(entry, inputs)


def mark(
    released: ReleasedNotebook,
    rebuilt: RebuiltNotebook,
    run_log: RunLog,
    reading: Reading,
    seed: str,
    numbers: Collection[str] | None = None,
) -> list[ExerciseResult]:
    """Mark the exercises of these numbers, or all of the notebook: credit only for what was asked, answered and right."""
    chosen = [released.exercises[number] for number in released.exercises if numbers is None or number in numbers]
    return [_mark(exercise, rebuilt, run_log, reading, seed) for exercise in chosen]


def _mark(
    exercise: ReleasedExercise, rebuilt: RebuiltNotebook, run_log: RunLog, reading: Reading, seed: str
) -> ExerciseResult:
    number = exercise.number
    seen = run_log.seen.get(number)
    lost = run_log.lost.get(number)
    if lost or seen is None:
        return _nothing(exercise, *_lost(lost))
    if "undefined" in seen:
        return _nothing(exercise, *_undefined(exercise, rebuilt, run_log, reading))
    try:
        with time_bound(JUDGING_S):
            verdict = cases_and_judge(number, seed)[1](take_apart(seen))
    except TooMuch:
        return _nothing(exercise, "unreadable", f"What the check observed took longer than {JUDGING_S:g} s to judge.")
    except Malformed:
        return _nothing(exercise, "unreadable", "What the check observed could not be read.")
    except Exception as problem:  # a judge that observations can trip up must cost one exercise, not a class
        said = f"What the check observed could not be judged ({type(problem).__name__})."
        return _nothing(exercise, "unreadable", said)
    if verdict.passed and number in reading.refused:
        said = f"This exercise asks you to write it yourself; your answer uses {reading.refused[number]}."
        return _nothing(exercise, "off limits", said)
    message = "\n".join(verdict.text(show_expected=False).split("\n")[1:])
    if verdict.passed:
        return ExerciseResult(number, exercise.points, exercise.points, "right", message)
    outcome = "off limits" if "off limits" in verdict.what else "wrong" if verdict.attempted else "not attempted"
    if not verdict.attempted and number in rebuilt.missing:
        outcome = "missing"
    return ExerciseResult(number, exercise.points, 0, outcome, message, verdict.mistake, verdict.found_by)


def _lost(why: str | None) -> tuple[str, str]:
    """Outcome and message where nothing was observed."""
    if why in LOST:
        return LOST[why]
    if why and why.startswith(ENDED):
        return "error", f"Your code ended Python itself: {why}."
    return "unreadable", f"The exercise could not be judged: {why or 'no observation arrived'}."


def _undefined(
    exercise: ReleasedExercise, rebuilt: RebuiltNotebook, run_log: RunLog, reading: Reading
) -> tuple[str, str]:
    """Outcome and message where nothing has the name that the check looks at."""
    number = exercise.number
    if number in run_log.broken:
        name, message = run_log.broken[number]
        if name == TOO_LONG:
            return LOST[TOO_LONG]
        if name not in NOT_PYTHON:
            return "error", f"Your answer's cell stopped with {name}: {message}"
        line, text, problem = reading.unread.get(number, (0, "", message))
        where = f" at line {line} of your answer's cell, `{text}`" if line else " in your answer's cell"
        return "syntax error", f"Python cannot read what stands{where}: {problem}. Nothing in that cell ran."
    if number in rebuilt.missing:
        return "missing", "The answer's cell is missing from the notebook that was handed in."
    if not rebuilt.answer(number).strip():
        return "not attempted", "The answer's cell is empty."
    return "missing", f"Nothing is called {exercise.expression}; the check needs that name."


def _nothing(exercise: ReleasedExercise, outcome: str, message: str) -> ExerciseResult:
    return ExerciseResult(exercise.number, exercise.points, 0, outcome, message)
