"""Exercises of a few lines that no notebook holds, to test on them what is decided."""

from collections.abc import Callable, Iterable

from course_checks.catalogue import CatalogueEntry
from course_checks.deciding.decide import decider
from course_checks.deciding.exercise import Case, Exercise
from course_checks.deciding.solution import Solution
from course_checks.deciding.verdict import Verdict
from course_checks.running.observe import observe

ENTRY = CatalogueEntry("5.1", "A toy", 2, 5, True, "toy")


def exercise(right: Callable | str, cases: Iterable[dict], returns=("result",), table=(), **fields) -> Exercise:
    """An exercise.

    Args:
        right: The right answer, or the text of a solution that defines ``toy``, so that mistakes can be edits of it.
        cases: Dicts of arguments, or cases.
        returns: Names of the returned parts.
        table: Known mistakes as they stand below a solution.
        fields: Further fields of ``Exercise``.
    """
    cases = [case if isinstance(case, Case) else Case(**case) for case in cases]
    fields = {"mistakes": [], "advice": "look again."} | fields
    made = Exercise(lambda seed: list(cases), returns, entry=ENTRY, **fields)
    made.__dict__["solution"] = Solution("toy", "", right if isinstance(right, str) else "", table)
    if not isinstance(right, str):
        made.__dict__["right"] = right
    return made


def verdict(right: Callable | str, answer: object, *cases: dict, **fields) -> Verdict:
    """What is decided on an answer; ``fields`` are those of ``exercise``."""
    toy = exercise(right, cases, **fields)
    guarded = bool(toy.off_limits)  # else the solution itself may be put to its check
    return decider(toy, toy.cases(0))(observe(answer, toy.cases(0), toy.call, guarded=guarded))


def diagnosis(right: Callable | str, answer: object, *cases: dict, **fields) -> tuple[str, str | None, str]:
    """How it was found what a wrong answer did, its name, and its sentence."""
    decided = verdict(right, answer, *cases, **fields)
    assert not decided.passed
    return decided.found_by, decided.mistake, decided.looks_like
