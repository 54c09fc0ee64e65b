"""A clean notebook from the released one and what was handed in: the student's answers in the places of the released ones."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..reading.cells import defined_names, read_cell
from ..released_notebook import ReleasedCell, ReleasedNotebook

CHECK = re.compile(r"""^[ \t]*check\([ \t]*["'](\d{1,2}\.\d{1,2})["']""", re.MULTILINE)


@dataclass(frozen=True)
class SubmittedCell:
    """One cell as it was handed in; every part of it is the student's word only."""

    kind: str
    text: str
    id: str = ""
    grade_id: str = ""


@dataclass(frozen=True)
class NotebookStep:
    """One cell to run: ``provided``, ``answer``, or the student's own ``extra``; or an exercise to ``check``."""

    role: str
    text: str
    number: str = ""


@dataclass(frozen=True)
class RebuiltNotebook:
    """What will run, what was noticed, and the exercises whose answer cell is gone."""

    steps: tuple[NotebookStep, ...]  # in the order in which they run
    noticed: tuple[str, ...]  # what was changed and put back, for the student to read
    missing: frozenset[str]  # exercises whose answer cell is gone, and whose answer is nowhere else
    # exercise -> the cell above its check that makes its answer, where that is not the answer cell
    elsewhere: dict[str, str] = field(default_factory=dict)

    def answer(self, number: str) -> str:
        """What the student wrote for one exercise."""
        own = [step.text for step in self.steps if step.role == "answer" and step.number == number]
        moved = self.elsewhere.get(number)
        return "\n\n".join(own if moved is None or moved in own else [*own, moved])


def rebuild(released: ReleasedNotebook, submitted: Iterable[SubmittedCell]) -> RebuiltNotebook:
    """Put the student's answers and extra cells into the order of the released notebook.

    Extra cells keep their place after the released cell that they followed. Provided cells and checks are as they were
    released; where the student changed a provided cell, the changed one runs after it, since honest answers use added imports.
    What a student wrote into a check's cell runs before the check, as it does in JupyterLab.

    A check comes where it was: it looks at what the cells above it make, as when all run from top to bottom.
    """
    cells = list(submitted)
    owner, noticed = _match(released, cells)
    places = {cell.id: index for index, cell in enumerate(released.cells)}
    before: dict[int, list[NotebookStep]] = {}
    after: dict[int, list[NotebookStep]] = {}
    answers: dict[str, NotebookStep] = {}
    place, order = -1, []
    for index, cell in enumerate(cells):
        if index in owner:
            place = places[owner[index].id]
            order.append(place)
        if cell.kind != "code" or not cell.text.strip():
            continue
        original = owner.get(index)
        if original is None:
            after.setdefault(place, []).append(NotebookStep("extra", cell.text))
        elif original.role == "answer":
            answers[original.id] = NotebookStep("answer", cell.text, original.number)
        elif _plain(cell.text) != _plain(original.text):
            noticed.append(f"{_name(original)} was edited; the original ran")
            around = before if original.role == "check" else after
            around.setdefault(place, []).append(NotebookStep("extra", cell.text))
    if order != sorted(order):
        noticed.append("cells were reordered; the original order was restored")
    present = {original.id for original in owner.values()}
    gone = [cell for cell in released.cells if cell.id not in present]
    noticed += [f"{_name(cell)} was deleted; the original ran" for cell in gone if cell.role != "answer"]
    steps = after.pop(-1, [])
    for place, cell in enumerate(released.cells):
        steps += before.get(place, [])
        if cell.role == "answer":
            steps += [answers[cell.id]] if cell.id in answers else []
        else:
            steps.append(NotebookStep("check" if cell.role == "check" else "provided", cell.text, cell.number))
        steps += after.get(place, [])
    elsewhere = {}
    for end, step in enumerate(steps):
        name = released.exercises[step.number].expression.partition(".")[0] if step.role == "check" else ""
        makers = [above for above in steps[:end] if name and above.role in ("answer", "extra") and _makes(above, name)]
        if makers and makers[-1].number != step.number:
            elsewhere[step.number] = makers[-1].text
    missing = frozenset(cell.number for cell in gone if cell.role == "answer") - elsewhere.keys()
    noticed += [f"{_name(cell)} is missing" for cell in gone if cell.role == "answer" and cell.number in missing]
    return RebuiltNotebook(tuple(steps), tuple(noticed), missing, elsewhere)


def _makes(cell: NotebookStep | SubmittedCell, name: str) -> bool:
    return name in cell.text and name in defined_names(read_cell(cell.text))


def _plain(text: str) -> str:
    """A cell's text without what line ends and trailing blanks there are."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _match(released: ReleasedNotebook, cells: list[SubmittedCell]) -> tuple[dict[int, ReleasedCell], list[str]]:
    """Which handed-in cell stands for which released one; each at most once."""
    known = {cell.id: cell for cell in released.cells}
    owner: dict[int, ReleasedCell] = {}
    taken: set[str] = set()
    seen: dict[str, set[str]] = {}  # the texts of what stands for a cell
    noticed = []

    def take(index: int, cell: ReleasedCell) -> None:
        owner[index] = cell
        taken.add(cell.id)
        seen[cell.id] = {cells[index].text}

    for index, cell in enumerate(cells):
        if (original := known.get(cell.id)) is None:
            continue
        if cell.kind != "code":
            noticed.append(f"{_name(original)} was made a {cell.kind} cell")
        elif original.id in taken:
            if cell.text not in seen[original.id]:
                noticed.append(f"{_name(original)} occurs twice; the first counts")
            seen[original.id].add(cell.text)
        else:
            take(index, original)
    free = [index for index, cell in enumerate(cells) if index not in owner and cell.kind == "code"]
    for index in free:
        original = known.get(cells[index].grade_id)
        if original is not None and original.id not in taken:
            take(index, original)
    texts = {_plain(cell.text): cell for cell in released.cells if cell.role == "provided"}
    for index in (index for index in free if index not in owner):
        text = cells[index].text
        original = texts.get(_plain(text))
        if (call := CHECK.search(text)) and len(text) < 200:
            original = next((c for c in released.cells if c.role == "check" and c.number == call.group(1)), None)
        if original is not None and original.id not in taken:
            take(index, original)
    for cell in released.cells:
        if cell.role != "answer" or cell.id in taken:
            continue
        name = released.exercises[cell.number].expression
        for index in free:
            if index not in owner and _makes(cells[index], name):
                take(index, cell)
                break
    return owner, noticed


def _name(cell: ReleasedCell) -> str:
    """What a person calls a released cell."""
    if cell.role != "provided":
        return f"the {'check' if cell.role == 'check' else 'answer cell'} of {cell.number}"
    lines = (line.strip() for line in cell.text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return f"the page's cell that begins with `{first[:60]}`"
