"""Reading answers without running them: what an answer can reach, and whether that is off limits.

While an answer runs, what is off limits raises (``course_checks.running.guard``); but that guard lives in the student's
kernel, where a student who knows how can take it down. This reading is done outside. It refuses what plainly names a
ready-made; what hides from being read it cannot judge, and says so.
"""

import ast
from dataclasses import dataclass, field

from ..submissions.rebuild import NotebookStep
from .cells import CellCode, read_cell
from .hiding import hiding_in, unknown_name
from .reach import Bindings, bindings_of, reached
from .ready_made import ready_made, ready_made_in
from .tampering import tampering_in

MOST_SAID = 5  # of one exercise, of one cell


@dataclass(frozen=True)
class Reading:
    """What was found. Each line begins with the place: ``answer 4.2, line 3: ...``.

    Args:
        refused: Exercise -> what its answer uses, so that it earns nothing although it computes what is right.
        noticed: What an instructor may want to look at.
        hidden: Exercise -> what in its answer could not be judged by reading; it matters where something was earned.
        unread: Exercise -> (line, the student's text there, why) of an answer that is not Python.
    """

    refused: dict[str, str]
    noticed: tuple[str, ...]
    hidden: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unread: dict[str, tuple[int, str, str]] = field(default_factory=dict)

    def to_review(self, earned: set[str]) -> tuple[str, ...]:
        """What a person should look at, where the exercises in ``earned`` earned something."""
        hidden = (line for number in self.hidden if number in earned for line in self.hidden[number])
        return tuple(dict.fromkeys((*self.noticed, *hidden)))


@dataclass(frozen=True)
class _Cell:
    """One cell that runs, read."""

    step: NotebookStep
    code: CellCode
    place: str
    own: bool  # the student's


def read_answers(
    steps: tuple[NotebookStep, ...], expressions: dict[str, str], off_limits: dict[str, tuple[str, ...]]
) -> Reading:
    """Read what a student wrote.

    Only what an answer can reach counts against it: its own definition and, from there, every definition that it names.
    A comparison with PyTorch's own function beside an answer is honest. Lines of the course are never counted.

    Args:
        steps: The rebuilt notebook.
        expressions: Exercise -> its answer, as an expression.
        off_limits: Exercise -> dotted names; in the others nothing is off limits.
    """
    cells = [_Cell(step, read_cell(step.text), place, step.role != "provided") for step, place in _placed(steps)]
    given = {line.strip() for cell in cells if not cell.own for line in cell.code.lines} - {""}
    bindings = bindings_of((cell.code.tree, index) for index, cell in enumerate(cells) if cell.code.tree)
    unread = {
        cell.step.number: (cell.code.line, cell.code.text(cell.code.line), cell.code.problem)
        for cell in cells
        if cell.code.tree is None and cell.step.role == "answer"
    }
    refused, hidden = {}, {}
    for number, names in off_limits.items():
        banned = ready_made(tuple(names))
        if not banned.names:
            continue
        nodes, unknown = reached(expressions[number], bindings)
        for placed, index in nodes:
            if (index < 0 or cells[index].own) and (said := ready_made_in(placed, bindings, banned)):
                refused[number] = said if index < 0 else f"{said} ({_line_of(cells[index], placed.node)})"
                break
        notes = [(placed.node, index, hiding_in(placed, bindings)) for placed, index in nodes]
        notes += [(placed.node, index, unknown_name(name, bindings)) for name, (placed, index) in unknown.items()]
        lines = [_said(cells[i], node, said) for node, i, said in notes if said and _counts(cells, i, node, given)]
        lines += [  # where a line is to blame, Python cannot run the cell either
            f"{cell.place}: could not be read: {cell.code.problem}"
            for cell in cells
            if cell.code.tree is None and not cell.code.line and cell.step.number in ("", number)
        ]
        if lines:
            hidden[number] = tuple(dict.fromkeys(lines))[:MOST_SAID]
    noticed = [line for index in range(len(cells)) for line in _tampering(cells, index, bindings, given)]
    return Reading(refused, tuple(dict.fromkeys(noticed)), hidden, unread)


def _placed(steps: tuple[NotebookStep, ...]) -> list[tuple[NotebookStep, str]]:
    """The steps that are cells, with what a person calls them."""
    found, after = [], ""
    for step in steps:
        if step.role == "check":
            after = f" after the check of {step.number}"
        elif step.role == "answer":
            found.append((step, f"answer {step.number}"))
        else:
            found.append((step, f"{'an extra cell' if step.role == 'extra' else 'a cell of the page'}{after}"))
    return found


def _counts(cells: list[_Cell], index: int, node: ast.AST, given: set[str]) -> bool:
    """Whether a node stands in a line that the student wrote."""
    if index < 0 or not cells[index].own:
        return False
    code = cells[index].code
    return code.text(code.place(node), most=10_000) not in given


def _line_of(cell: _Cell, node: ast.AST) -> str:
    return f"{cell.place}, line {cell.code.place(node)}"


def _said(cell: _Cell, node: ast.AST, said: str) -> str:
    return f"{_line_of(cell, node)}: `{cell.code.text(cell.code.place(node))}`: {said}"


def _tampering(cells: list[_Cell], index: int, bindings: Bindings, given: set[str]) -> list[str]:
    cell = cells[index]
    if not cell.own or cell.code.tree is None:
        return []
    found = [
        _said(cell, node, said)
        for node, said in tampering_in(cell.code.tree, bindings)
        if _counts(cells, index, node, given)
    ]
    return list(dict.fromkeys(found))[:MOST_SAID]
