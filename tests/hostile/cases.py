"""The hostile submissions. Most of them stand in text files beside this one, as changes of a half solved notebook of lesson 01.

A part of a text file begins with ``===== name | outcomes | words that the result must hold``. The text is an answer to 1.1
(none: the solution's); what stands above a line ``#--`` is a cell in front. 1.3 and 1.7 are answered, the others are not, so
that points which nobody earned would be seen. Of the outcomes those are told that are others than "right" where there is an
answer and "not attempted" where there is none: ``1.1 wrong or lost`` or ``all right or ended``. A part of ``escapes.txt``
has one attempt a line.
"""

from dataclasses import dataclass
from pathlib import Path

from handed_in import POINTS_01, ROOT, as_bytes, code, position, sections, solved, with_cell

# Why there may be nothing to judge of an exercise.
LOST = ("error", "time limit", "memory", "output limit", "not reached", "unreadable")
ANSWERED = {"1.1": "answer-1-1", "1.3": "answer-1-3", "1.7": "quiz-1-7"}
SETS = {"lost": LOST, "ended": (*LOST, "missing", "syntax error", "not attempted")}


@dataclass(frozen=True)
class Case:
    """One submission."""

    name: str  # what it does
    data: bytes  # the file
    outcomes: str = "all right"  # as above; "none": no exercise is graded
    words: tuple[str, ...] = ()  # that the result must hold

    def allowed(self) -> dict[str, tuple[str, ...]]:
        """The outcomes that each exercise may have; of none where no exercise is graded."""
        if self.outcomes == "none":
            return {}
        allowed = dict.fromkeys(POINTS_01, ("not attempted",)) | dict.fromkeys(ANSWERED, ("right",))
        for part in self.outcomes.split(", "):
            number, _, either = part.partition(" ")
            chosen = tuple(one for word in either.split(" or ") for one in SETS.get(word, (word,)))
            if number == "all":
                where_empty = ("not attempted", *(one for one in chosen if one != "right"))
                allowed = dict.fromkeys(POINTS_01, where_empty) | dict.fromkeys(ANSWERED, chosen)
            else:
                allowed[number] = chosen
        return allowed


def half_solved(**answers: str) -> dict:
    """The notebook with what is answered in it; other answers by ``answer_1_1`` and so on."""
    return solved(only=set(ANSWERED.values()), **answers)


def read(name: str) -> list[Case]:
    """The cases of a text file."""
    cases = []
    for header, text in sections(Path(__file__).with_name(name)):
        title, outcomes, *words = header.split(" | ")
        above, mark, below = text.partition("\n#--")
        answer = below.removeprefix("\n") if mark else text
        notebook = half_solved(answer_1_1=answer) if answer else half_solved()
        cases.append(Case(title, as_bytes(with_cell(notebook, above) if mark else notebook), outcomes, tuple(words)))
    return cases


TRY_ALL = """
worked = []
for attempt in attempts:
    try:
        worked.append((attempt.__name__, str(attempt())[:80]))
    except BaseException as problem:
        pass
with open("/tmp/worked", "w") as file:
    file.write(repr(worked))
"""
NONE_WORKED = """
def dot(a, b):
    worked = open("/tmp/worked").read()
    if worked != "[]":
        raise RuntimeError(worked)
    return (a * b).sum()
"""


def escapes() -> list[Case]:
    """Solved, with a cell in front that makes each attempt; the answer to 1.1 is right only if every one fails."""
    cases = []
    for name, text in sections(Path(__file__).with_name("escapes.txt")):
        *setup, lines = text.split("\n#--\n")
        attempts = lines.split("\n")
        cell = ["import os, socket, subprocess, sys, glob, ctypes", f"ROOT = {str(ROOT)!r}", *setup]
        cell += [f"def try_{place}():\n    {line}" for place, line in enumerate(attempts)]
        cell.append(f"attempts = {', '.join(f'try_{place}' for place in range(len(attempts)))},{TRY_ALL}")
        cases.append(Case(name, as_bytes(with_cell(half_solved(answer_1_1=NONE_WORKED), "\n".join(cell)))))
    return cases


def changed(notebook: dict, name: str, **changes: object) -> bytes:
    """A notebook of which one cell is changed."""
    notebook["cells"][position(notebook, name)].update(changes)
    return as_bytes(notebook)


def without(name: str) -> bytes:
    """Solved, without the cell of that id."""
    return as_bytes(half_solved() | {"cells": [cell for cell in half_solved()["cells"] if cell["id"] != name]})


def wrong() -> dict:
    """Solved, but for 1.1."""
    return half_solved(answer_1_1="def dot(a, b):\n    return (a * b).sum() + 1")


def with_more_points() -> bytes:
    notebook = half_solved()
    notebook["metadata"]["course"]["points"]["1.1"] = 1000
    marks = notebook["cells"][position(notebook, "check-1-1")]["metadata"]
    return changed(notebook, "check-1-1", metadata=marks | {"nbgrader": marks["nbgrader"] | {"points": 1000}})


def with_tags() -> bytes:
    notebook = wrong()
    for cell in notebook["cells"]:
        cell["metadata"] = {"tags": ["raises-exception", "nbval-skip", "skip-execution"]}
    answer = notebook["cells"][position(notebook, "answer-1-1")]["source"]
    return changed(notebook, "answer-1-1", source=f"# NBVAL_RAISES_EXCEPTION\n{answer}")


def with_a_second_answer() -> bytes:
    notebook = half_solved()
    place = position(notebook, "answer-1-1")
    notebook["cells"].insert(place + 1, notebook["cells"][place] | {"source": "raise NotImplementedError"})
    return as_bytes(notebook)


def notebook_of(cells: list[dict]) -> bytes:
    return as_bytes({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


BASH = {"name": "bash", "language": "bash", "display_name": "x", "argv": ["sh"]}
PRODUCT = """import numpy as np
def all_pairs_einsum(queries, keys):
    return torch.from_numpy(np.matmul(queries.numpy(), keys.transpose(-2, -1).numpy()))"""
TAMPERING = [
    *read("tampering.txt"),
    Case("numpy's matrix product", as_bytes(half_solved(answer_1_4=PRODUCT)), "1.4 right", words=("`matmul` is on the list",)),
    Case("edits a check", changed(wrong(), "check-1-1", source="print('right')"), "1.1 wrong", ("the check of 1.1 was edited",)),
    Case("deletes a check", without("check-1-1"), words=("the check of 1.1 was deleted",)),
    Case("deletes an answer", without("answer-1-1"), "1.1 missing", ("the answer cell of 1.1 is missing",)),
    Case("deletes the setup", without("01-dot-product-similarity-exercises-2"), words=("was deleted",)),
    Case("makes a check a raw cell", changed(wrong(), "check-1-1", cell_type="raw"), "1.1 wrong", ("the check of 1.1 was made a raw cell",)),
    Case("makes an answer a raw cell", changed(half_solved(), "answer-1-1", cell_type="raw"), "1.1 missing"),
    Case("raises its points", with_more_points()),
    Case("tags every cell", with_tags(), "1.1 wrong"),
    Case("duplicates an answer's id", with_a_second_answer(), words=("occurs twice",)),
    Case("reverses the cells", as_bytes(half_solved() | {"cells": half_solved()["cells"][::-1]}), words=("reordered",)),
    Case("asks for another kernel", as_bytes(half_solved() | {"metadata": half_solved()["metadata"] | {"kernelspec": BASH}})),
    Case("has only its answers", notebook_of([cell for cell in half_solved()["cells"] if cell["id"].startswith(("answer", "quiz"))])),
]  # fmt: skip
ENDS_EVERYWHERE = half_solved(**{f"answer_1_{place}": "import os\nos._exit(0)" for place in range(1, 7)})
EACH_ENDED = ", ".join(f"1.{place} error" for place in range(1, 7))
CRASHES = [
    *read("crashes.txt"),
    Case("ends itself in every answer", as_bytes(ENDS_EVERYWHERE), EACH_ENDED, ("exit status 0",)),
]
MESSAGES = read("messages.txt")  # forged ones to the grader
DISTURBANCES = read("disturbances.txt")  # what happens to 1.1 is its own affair; the other exercises are right
ESCAPES = escapes()
DECEPTIVE_ANSWERS = [
    *read("deceptive_answers.txt"),
    Case("a sum of 100,000 terms", as_bytes(with_cell(half_solved(), "x = " + "1+" * 100_000 + "1"))),
    Case("a million lines of magics", as_bytes(with_cell(half_solved(), "if False:\n" + "    !ls\n" * 100_000))),
]
UNREADABLE = [  # tests/grader/submissions/test_find.py has every kind
    Case("truncated", as_bytes(half_solved())[:5000], "none", ("not JSON",)),
    Case("nested a million deep", b"[" * 10**6, "none", ("not JSON",)),
    Case("a million cells", notebook_of([{}] * 10**6), "none", ("cells",)),
    Case("another course's", notebook_of([code("x = 1")]), "none", ("none of the lessons",)),
]
