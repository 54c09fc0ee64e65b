"""Stands in the sandbox in the place of ``course_checks.engine``: a check that a student calls there judges nothing.

The grader probes each answer itself, at the place of its check. A call of the student's own must not stop the cell that
it stands in.
"""


class NotYet(Exception):
    """What a check raises in a notebook; never raised here."""


def check(number: str, answer: object) -> None:
    """Say that the grader judges."""
    print(f"{number}: the grader judges")


def failing_case() -> dict:
    """There is none here."""
    raise LookupError("no check has failed yet: run check(...) on your answer first")


def hint(number: str | None = None) -> None:
    """There is none here, of any exercise."""
    print("no check has failed yet: run check(...) on your answer first")
