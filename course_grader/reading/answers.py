"""Reading a rebuilt notebook without running it: what each answer reaches, and what of that a person should look at."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..submissions.rebuild import NotebookStep
from .cells import read_cell
from .look_at import listed_names
from .reach import Statement, reached, statements_of

MAX_LINES = 5  # of one exercise


@dataclass(frozen=True)
class Reached:
    """What one answer reaches of the cells above its check."""

    statements: tuple[tuple[str, bool], ...]  # each as text, and whether the student wrote it, in order
    partly: dict[int, str]  # the student's cells of which something is reached and something is not: step -> its place
    unused: dict[int, str]  # those of which nothing is reached
    listed: tuple[str, ...]  # lines that name what a person should look at: ``answer 4.2, line 3: ...``


@dataclass(frozen=True)
class Findings:
    """What was found, by exercise."""

    reached: dict[str, Reached] = field(default_factory=dict)
    # line, the student's text there, and why, of an answer that is not Python
    syntax_errors: dict[str, tuple[int, str, str]] = field(default_factory=dict)


def read_answers(
    steps: tuple[NotebookStep, ...], expressions: dict[str, str], products_off_limits: frozenset[str]
) -> Findings:
    """Read what a student wrote.

    Only what an answer reaches counts: its own definition and, from there, every statement above its check that what it
    names comes from. A comparison with PyTorch's own function beside an answer is honest. ``expressions`` are the answers
    by exercise; matrix products are off limits in some.
    """
    codes = {index: read_cell(step.text) for index, step in enumerate(steps) if step.role != "check"}
    places = _places(steps)
    statements = statements_of(codes.items())
    findings = Findings()
    for end, step in enumerate(steps):
        if step.role != "check" or step.number not in expressions:
            continue
        above = [statement for statement in statements if statement.cell < end]
        used = reached(expressions[step.number], above)
        used_cells, kept = {one.cell for one in used}, {id(one) for one in used}
        others = {one.cell for one in above if id(one) not in kept} | {cell for cell in codes if not codes[cell].tree}
        others = {cell: places[cell] for cell in sorted(others) if cell < end and steps[cell].role != "provided"}
        lines = [
            f"{places[one.cell]}, line {line}: `{codes[one.cell].text(line)}`: {name} is on the list of what to look at"
            for one in used
            if steps[one.cell].role != "provided"
            for node, name in listed_names(one.node, step.number in products_off_limits)
            for line in (getattr(node, "lineno", 1),)
        ]
        findings.reached[step.number] = Reached(
            tuple(_texts(used, steps)),
            {cell: place for cell, place in others.items() if cell in used_cells},
            {cell: place for cell, place in others.items() if cell not in used_cells},
            tuple(dict.fromkeys(lines))[:MAX_LINES],
        )
    for cell, code in codes.items():
        if code.tree is None and steps[cell].role == "answer":
            findings.syntax_errors[steps[cell].number] = (code.line, code.text(code.line), code.problem)
    return findings


def named_cells(steps: tuple[NotebookStep, ...], lines: Iterable[str]) -> dict[str, str]:
    """The student's own cells beside the answers that such lines name: what a person calls each, and its text."""
    said = "\n".join(lines)
    extra = {place: steps[index].text for index, place in _places(steps).items() if steps[index].role == "extra"}
    ends = r"(?! after the check of| \(\d|\.?\d)"  # not the beginning of another cell's name
    return {place: text for place, text in extra.items() if re.search(re.escape(place) + ends, said)}


def _texts(used: list[Statement], steps: tuple[NotebookStep, ...]) -> list[tuple[str, bool]]:
    """The statements as Python again; what is nested too deeply for that is left out."""
    texts = []
    for one in used:
        try:
            texts.append((ast.unparse(one.node), steps[one.cell].role != "provided"))
        except (RecursionError, ValueError):  # a number of thousands of digits
            continue
    return texts


def _places(steps: tuple[NotebookStep, ...]) -> dict[int, str]:
    """What a person calls each cell."""
    places, after = {}, ""
    for index, step in enumerate(steps):
        if step.role == "check":
            after = f" after the check of {step.number}"
        elif step.role == "answer":
            places[index] = f"answer {step.number}"
        else:
            places[index] = f"{'an extra cell' if step.role == 'extra' else 'a cell of the page'}{after}"
    seen: dict[str, int] = {}
    for index, place in places.items():
        seen[place] = seen.get(place, 0) + 1
        places[index] = place if seen[place] == 1 else f"{place} ({seen[place]})"
    return places
