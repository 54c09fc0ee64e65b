"""What a hostile submission is, and the ways to make one from a solved notebook of lesson 01 (24 points)."""

from dataclasses import dataclass, field

from handed_in import as_bytes, position, solved, with_cell

WRONG_DOT = "def dot(a, b):\n    return (a * b).sum() + 1"
RIGHT_DOT = "def dot(a, b):\n    return (a * b).sum()"


@dataclass(frozen=True)
class Case:
    """One submission.

    Args:
        name: What it does.
        data: The file.
        lost: Exercise -> the outcome it must have; all others must be right. None: no exercise is graded.
        said: Words that the result must hold.
    """

    name: str
    data: bytes
    lost: dict[str, str] | None = field(default_factory=dict)
    said: tuple[str, ...] = ()


def attempts(*lines: str, setup: str = "") -> bytes:
    """Solved, with a cell in front that tries each of these lines; the answer to 1.1 is right only if every one fails."""
    tries = "\n".join(f"def _try{i}():\n    {line}\n" for i, line in enumerate(lines))
    names = ", ".join(f"_try{i}" for i in range(len(lines)))
    cell = f"""
import os, socket, subprocess, sys, glob, ctypes
{setup}
{tries}
worked = []
for attempt in ({names},):
    try:
        worked.append((attempt.__name__, str(attempt())[:80]))
    except BaseException as problem:
        pass
with open("/tmp/worked", "w") as file:
    file.write(repr(worked))
"""
    answer = """
def dot(a, b):
    worked = open("/tmp/worked").read()
    if worked != "[]":
        raise RuntimeError(worked)
    return (a * b).sum()
"""
    return as_bytes(with_cell(solved(answer_1_1=answer), cell))


def edited(change) -> bytes:
    notebook = solved()
    change(notebook)
    return as_bytes(notebook)


def front(text: str, **answers: str) -> bytes:
    """Solved, with a cell in front."""
    return as_bytes(with_cell(solved(**answers), text))


def instead(text: str) -> bytes:
    """Solved, with another answer to 1.1."""
    return as_bytes(solved(answer_1_1=text))


# Why there may be nothing to judge of an exercise.
LOST = ("error", "time limit", "memory", "output limit", "not reached", "unreadable")
ENDED = (*LOST, "missing", "syntax error", "not attempted")
WRONG, ERROR, LATE = {"1.1": "wrong"}, {"1.1": "error"}, {"1.1": "time limit"}


def without_cell(name: str):
    """A change that takes the cell of that id away."""
    return lambda notebook: notebook["cells"].pop(position(notebook, name))
