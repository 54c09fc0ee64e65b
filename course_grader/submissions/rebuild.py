"""A clean notebook from the master and what was handed in: the student's answers in the master's places."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..master import Cell, Master

HEADING = re.compile(r"^#{1,6}\s+(\d{1,2}\.\d{1,2})\b", re.MULTILINE)
CHECK = re.compile(r"""^\s*check\(\s*["'](\d{1,2}\.\d{1,2})["']""", re.MULTILINE)


@dataclass(frozen=True)
class Handed:
    """One cell as it was handed in; every part of it is the student's word only."""

    kind: str
    text: str
    id: str = ""
    grade_id: str = ""


@dataclass(frozen=True)
class Step:
    """One cell to run: ``given`` or ``answer`` or the student's own ``extra``; or an exercise to ``probe``."""

    role: str
    text: str
    number: str = ""


@dataclass(frozen=True)
class Rebuilt:
    """What will run, what was noticed, and the exercises whose answer cell is gone."""

    steps: tuple[Step, ...]
    noticed: tuple[str, ...]
    missing: frozenset[str]

    def answer(self, number: str) -> str:
        """What the student wrote for one exercise."""
        return "\n\n".join(step.text for step in self.steps if step.role == "answer" and step.number == number)


def rebuild(master: Master, handed: Iterable[Handed]) -> Rebuilt:
    """Put the student's answers and extra cells into the master's order.

    Extra cells keep their place after the cell of the master that they followed. Given cells and checks are the master's
    own; where the student changed a given cell, the changed one runs after it, since honest answers use added imports.
    """
    cells = list(handed)
    owner, noticed = _match(master, cells)
    places = {cell.id: index for index, cell in enumerate(master.cells)}
    after: dict[int, list[Step]] = {}
    found: dict[str, str] = {}
    place, order = -1, []
    for index, cell in enumerate(cells):
        if index in owner:
            place = places[owner[index].id]
            order.append(place)
        if cell.kind != "code" or not cell.text.strip():
            continue
        original = owner.get(index)
        if original is None:
            after.setdefault(place, []).append(Step("extra", cell.text))
        elif original.role == "answer":
            found[original.id] = cell.text
        elif cell.text.strip() != original.text.strip():
            what = f"the check of {original.number}" if original.role == "check" else f"given cell {original.id}"
            noticed.append(f"{what} was edited; the original ran")
            after.setdefault(place, []).append(Step("extra", cell.text))
    if order != sorted(order):
        noticed.append("cells were reordered; the original order was restored")
    present = {original.id for original in owner.values()}
    gone = [cell for cell in master.cells if cell.id not in present]
    noticed += [f"{_name(cell)} was deleted; the original ran" for cell in gone if cell.role != "answer"]
    noticed += [f"the answer cell {cell.id} is missing" for cell in gone if cell.role == "answer"]
    steps = after.pop(-1, [])
    for place, cell in enumerate(master.cells):
        if cell.role == "answer":
            steps += [Step("answer", found[cell.id], cell.number)] if cell.id in found else []
        else:
            steps.append(Step("probe" if cell.role == "check" else "given", cell.text, cell.number))
        steps += after.get(place, [])
    answers = [cell for cell in master.cells if cell.role == "answer"]
    missing = {cell.number for cell in answers} - {cell.number for cell in answers if cell.id in found}
    return Rebuilt(tuple(steps), tuple(noticed), frozenset(missing))


def _match(master: Master, cells: list[Handed]) -> tuple[dict[int, Cell], list[str]]:
    """Which handed-in cell stands for which of the master's; each at most once."""
    known = {cell.id: cell for cell in master.cells}
    owner: dict[int, Cell] = {}
    taken: set[str] = set()
    noticed = []

    def take(index: int, cell: Cell) -> None:
        owner[index] = cell
        taken.add(cell.id)

    for index, cell in enumerate(cells):
        if (original := known.get(cell.id)) is None:
            continue
        if cell.kind != "code":
            noticed.append(f"{_name(original)} was made a {cell.kind} cell")
        elif original.id in taken:
            noticed.append(f"{_name(original)} occurs twice; the first counts")
        else:
            take(index, original)
    free = [index for index, cell in enumerate(cells) if index not in owner and cell.kind == "code"]
    for index in free:
        original = known.get(cells[index].grade_id)
        if original is not None and original.id not in taken:
            take(index, original)
    sections = _sections(cells)
    texts = {cell.text.strip(): cell for cell in master.cells if cell.role == "given"}
    for index in (index for index in free if index not in owner):
        text = cells[index].text
        original = texts.get(text.strip())
        if (call := CHECK.search(text)) and len(text) < 200:
            original = next((c for c in master.cells if c.role == "check" and c.number == call.group(1)), None)
        if original is not None and original.id not in taken:
            take(index, original)
    for cell in master.cells:
        if cell.role != "answer" or cell.id in taken:
            continue
        name = re.escape(master.exercises[cell.number].expression)
        defines = re.compile(rf"^(def|class)\s+{name}\b|^{name}\s*=", re.MULTILINE)
        left = [index for index in free if index not in owner]
        named = [index for index in left if defines.search(cells[index].text)]
        here = [index for index in left if sections[index] == cell.number]
        for choice in ([i for i in named if i in here], named, here):
            if choice:
                take(choice[0], cell)
                break
    return owner, noticed


def _sections(cells: list[Handed]) -> list[str]:
    """The exercise under whose heading each cell stands."""
    number, found = "", []
    for cell in cells:
        if cell.kind == "markdown" and (heading := HEADING.search(cell.text)):
            number = heading.group(1)
        found.append(number)
    return found


def _name(cell: Cell) -> str:
    return f"the {cell.role} cell {cell.id}" if cell.role != "check" else f"the check of {cell.number}"
