"""From what a kernel sent to what an answer earns. No student code runs here."""

import functools
import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from course_checks.deciding.decide import cases_of, decider
from course_checks.deciding.find import find
from course_checks.deciding.verdict import Verdict
from course_checks.running.call import Case
from course_checks.running.encode import Tree
from course_checks.running.neutral_state import neutral_state

from ..bounded import LimitExceeded, own_process
from ..outcomes import WORDS
from ..reading.answers import Findings
from ..released_notebook import ReleasedExercise, ReleasedNotebook
from ..running.run import TOO_LONG, RunLog
from ..submissions.rebuild import RebuiltNotebook
from .observations import Malformed, decode_observations

LOST_AS = {"notebook time limit": "not reached", "the kernel was lost too often": "not reached"}  # others as they are
ENDED = "the kernel "
NOT_PYTHON = ("SyntaxError", "IndentationError", "TabError")
JUDGING_S = 30.0  # for one exercise, on a machine that does other work too
MOST_IN_PART = 0.5  # of the points, for an answer that is not right in all cases


@dataclass(frozen=True)
class ExerciseScore:
    """What one exercise earned and why."""

    number: str
    points: float  # what it is worth
    earned: float
    outcome: str  # one of ``outcomes.WORDS``
    message: str  # for the student; no right value in it
    mistake: str | None = None  # what the answer was seen to do, by name
    found_by: str = ""  # as ``Verdict.found_by``


@functools.lru_cache(maxsize=512)
def cases_and_decider(number: str, seed: str) -> tuple[list, Callable[[Tree], Verdict]]:
    """An exercise's fresh inputs, and its judge on them; worked out once for a whole class."""
    entry = find(number)
    digest = hashlib.sha256(f"{seed}/{number}".encode()).digest()
    with neutral_state():
        inputs = cases_of(entry, int.from_bytes(digest[:4], "big") >> 1)
    return inputs, decider(entry, inputs)


def judge(number: str, seed: str, observation: dict) -> Verdict:
    """The verdict on what a kernel sent. It can be made to take long: call it through a bounded process."""
    return cases_and_decider(number, seed)[1](decode_observations(observation))


def score_exercises(
    released: ReleasedNotebook,
    rebuilt: RebuiltNotebook,
    run_log: RunLog,
    findings: Findings,
    seed: str,
    numbers: Collection[str] | None = None,
    partial: bool = False,
) -> list[ExerciseScore]:
    """Score the exercises of these numbers, or all: credit only for what was asked, answered and right.

    With ``partial`` there is some for answers that are right in the ordinary cases and wrong in special ones.
    """
    chosen = [released.exercises[number] for number in released.exercises if numbers is None or number in numbers]
    return [_score(exercise, rebuilt, run_log, findings, seed, partial) for exercise in chosen]


def share_right(right_in: Sequence[bool], cases: Sequence[Case]) -> float:
    """The share of the kinds of cases in which an answer is right; 0 where it is wrong in an ordinary one.

    The cases with one label are a kind, and all without a label are another one, the ordinary cases.
    """
    kinds: dict[str, bool] = {}
    for right, case in zip(right_in, cases, strict=True):
        for label in case.labels or ("",):
            kinds[label] = kinds.get(label, True) and right
    return sum(kinds.values()) / len(kinds) if kinds.get("", True) else 0.0


def _score(
    exercise: ReleasedExercise, rebuilt: RebuiltNotebook, run_log: RunLog, findings: Findings, seed: str, partial: bool
) -> ExerciseScore:
    number = exercise.number
    observation = run_log.observed.get(number)
    lost = run_log.lost.get(number)
    if lost or observation is None:
        return _nothing(exercise, *_lost_outcome(lost))
    if "undefined" in observation:
        return _nothing(exercise, *_without_answer(exercise, rebuilt, run_log, findings))
    try:
        verdict = own_process().do(judge, number, seed, observation, seconds=JUDGING_S)
    except LimitExceeded as problem:
        message = f"Your answer could not be judged: {problem}. Return what the exercise asks for, and nothing larger."
        return _nothing(exercise, "unreadable", message)
    except Malformed:
        return _nothing(exercise, "unreadable", "What the check observed could not be read.")
    except Exception as problem:  # a judge that observations can trip up must cost one exercise, not a class
        message = f"What the check observed could not be judged ({type(problem).__name__})."
        return _nothing(exercise, "unreadable", message)
    if not verdict.passed and number in run_log.cell_errors and find(number).call.expects == "value":
        # A cell that was stopped leaves half of its results: say why, not which are missing.
        return _nothing(exercise, *_without_answer(exercise, rebuilt, run_log, findings))
    share = 1.0 if verdict.passed else 0.0
    if partial and not verdict.passed and verdict.right_in:
        share = min(MOST_IN_PART, share_right(verdict.right_in, cases_and_decider(number, seed)[0]))
    message = "\n".join(verdict.text(show_expected=False).split("\n")[1:])
    if verdict.passed:
        return ExerciseScore(number, exercise.points, exercise.points, "right", message)
    outcome = "off limits" if "off limits" in verdict.what else "wrong" if verdict.attempted else "not attempted"
    outcome = "in part" if share else outcome
    if not verdict.attempted and number in rebuilt.missing:
        outcome = "missing"
    earned = round(share * exercise.points, 2)
    return ExerciseScore(number, exercise.points, earned, outcome, message, verdict.mistake, verdict.found_by)


def _lost_outcome(why: str | None) -> tuple[str, str]:
    if LOST_AS.get(why, why) in WORDS:
        return LOST_AS.get(why, why), WORDS[LOST_AS.get(why, why)].meaning
    if why and why.startswith(ENDED):
        return "error", f"Your code ended Python itself: {why}."
    return "unreadable", f"The exercise could not be judged: {why or 'no observation arrived'}."


def _without_answer(
    exercise: ReleasedExercise, rebuilt: RebuiltNotebook, run_log: RunLog, findings: Findings
) -> tuple[str, str]:
    """Outcome and message where nothing has the name that the check looks at, or a cell that was stopped left half of it."""
    number = exercise.number
    if number in run_log.cell_errors:
        name, message = run_log.cell_errors[number]
        if name == TOO_LONG:
            return _lost_outcome(TOO_LONG)
        if name not in NOT_PYTHON:
            return "error", f"Your answer's cell stopped with {name}: {message}"
        line, text, problem = findings.syntax_errors.get(number, (0, "", message))
        where = f" at line {line} of your answer's cell, `{text}`" if line else " in your answer's cell"
        return "syntax error", f"Python cannot read what stands{where}: {problem}. Nothing in that cell ran."
    if number in rebuilt.missing:
        return "missing", "The answer's cell is missing from the notebook that was handed in."
    if not rebuilt.answer(number).strip():
        return "not attempted", "The answer's cell is empty."
    return "missing", f"Nothing is called {exercise.expression}; the check needs that name."


def _nothing(exercise: ReleasedExercise, outcome: str, message: str) -> ExerciseScore:
    return ExerciseScore(exercise.number, exercise.points, 0, outcome, message)
