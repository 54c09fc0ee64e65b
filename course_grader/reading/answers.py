"""Reading answers without running them: what an answer can reach, and whether that is off limits.

While an answer runs, what is off limits raises (``course_checks.running.guard``); but that guard lives in the student's
kernel, where a student who knows how can take it down. This reading is done outside. It refuses what plainly names a
ready-made; what hides from being read it cannot judge, and says so.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..submissions.rebuild import NotebookStep
from .bindings import bindings_of, reachable_nodes
from .cells import CellCode, read_cell
from .obfuscation import obfuscation_in, undefined_name
from .off_limits import banned_name_in, banned_names
from .tampering import tampering_in

MAX_LINES = 5  # of one exercise, of one cell


@dataclass(frozen=True)
class Findings:
    """What was found. Each line begins with the place: ``answer 4.2, line 3: ...``.

    Args:
        refused: Exercise -> what its answer uses, so that it earns nothing although it computes what is right.
        noticed: What an instructor may want to look at.
        obfuscated: Exercise -> what in its answer could not be judged by reading; it matters where something was earned.
        syntax_errors: Exercise -> (line, the student's text there, why) of an answer that is not Python.
    """

    refused: dict[str, str]
    noticed: tuple[str, ...]
    obfuscated: dict[str, tuple[str, ...]] = field(default_factory=dict)
    syntax_errors: dict[str, tuple[int, str, str]] = field(default_factory=dict)

    def to_review(self, earned: set[str]) -> tuple[str, ...]:
        """What a person should look at, where the exercises in ``earned`` earned something."""
        obfuscated = (line for number in self.obfuscated if number in earned for line in self.obfuscated[number])
        return tuple(dict.fromkeys((*self.noticed, *obfuscated)))


@dataclass(frozen=True)
class _Cell:
    """One cell that runs, read, with what a person calls it."""

    step: NotebookStep
    code: CellCode
    place: str

    @property
    def by_student(self) -> bool:
        return self.step.role != "provided"

    def line_of(self, node: ast.AST) -> str:
        return f"{self.place}, line {self.code.place(node)}"

    def noted(self, notes: Iterable[tuple[ast.AST, str | None]], given_lines: set[str]) -> list[str]:
        """Lines that say what was noted of some nodes, those of the course's own lines left out."""
        lines = []
        for node, reason in notes:
            line = self.code.place(node)
            if reason and self.by_student and self.code.text(line, most=10_000) not in given_lines:
                lines.append(f"{self.line_of(node)}: `{self.code.text(line)}`: {reason}")
        return lines


def read_answers(
    steps: tuple[NotebookStep, ...], expressions: dict[str, str], off_limits: dict[str, tuple[str, ...]]
) -> Findings:
    """Read what a student wrote.

    Only what an answer can reach counts against it: its own definition and, from there, every definition that it names.
    A comparison with PyTorch's own function beside an answer is honest. Lines of the course are never counted.

    Args:
        steps: The rebuilt notebook.
        expressions: Exercise -> its answer, as an expression.
        off_limits: Exercise -> dotted names; in the others nothing is off limits.
    """
    cells = [_Cell(step, read_cell(step.text), place) for step, place in _placed(steps)]
    given_lines = {line.strip() for cell in cells if not cell.by_student for line in cell.code.lines} - {""}
    bindings = bindings_of((cell.code.tree, index) for index, cell in enumerate(cells) if cell.code.tree)
    unread = [cell for cell in cells if cell.code.tree is None]
    refused, obfuscated = {}, {}
    for number, names in off_limits.items():
        banned = banned_names(tuple(names))
        if not banned.names:
            continue
        nodes, unknown = reachable_nodes(expressions[number], bindings)
        for scoped, index in nodes:
            if (index < 0 or cells[index].by_student) and (reason := banned_name_in(scoped, bindings, banned)):
                refused[number] = reason if index < 0 else f"{reason} ({cells[index].line_of(scoped.node)})"
                break
        notes = [(index, scoped.node, obfuscation_in(scoped, bindings)) for scoped, index in nodes]
        notes += [(index, scoped.node, undefined_name(name, bindings)) for name, (scoped, index) in unknown.items()]
        lines = [line for index, *note in notes if index >= 0 for line in cells[index].noted([note], given_lines)]
        lines += [  # where a line is to blame, Python cannot run the cell either
            f"{cell.place}: could not be read: {cell.code.problem}"
            for cell in unread
            if not cell.code.line and cell.step.number in ("", number)
        ]
        if lines:
            obfuscated[number] = tuple(dict.fromkeys(lines))[:MAX_LINES]
    noticed: dict[str, None] = {}
    for cell in cells:
        if cell.by_student and cell.code.tree is not None:
            lines = cell.noted(tampering_in(cell.code.tree, bindings), given_lines)
            noticed |= dict.fromkeys(list(dict.fromkeys(lines))[:MAX_LINES])
    syntax_errors = {
        cell.step.number: (cell.code.line, cell.code.text(cell.code.line), cell.code.problem)
        for cell in unread
        if cell.step.role == "answer"
    }
    return Findings(refused, tuple(noticed), obfuscated, syntax_errors)


def _placed(steps: tuple[NotebookStep, ...]) -> list[tuple[NotebookStep, str]]:
    """The steps that are cells, with what a person calls them."""
    cells, after = [], ""
    for step in steps:
        if step.role == "check":
            after = f" after the check of {step.number}"
        elif step.role == "answer":
            cells.append((step, f"answer {step.number}"))
        else:
            cells.append((step, f"{'an extra cell' if step.role == 'extra' else 'a cell of the page'}{after}"))
    return cells
