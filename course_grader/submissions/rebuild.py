"""A clean notebook from the released one and what was handed in: the student's answers in the places of the released ones."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..reading.cells import defined_names, read_cell
from ..released_notebook import ReleasedCell, ReleasedNotebook

HEADING = re.compile(r"^#{1,6}[ \t]+(\d{1,2}\.\d{1,2})\b", re.MULTILINE)
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
    # exercise -> the cell in which its answer was found, where that is not the answer cell
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

    An answer counts where a student saw it pass. What stands in its own cell is checked where the check stands, as when
    all cells run from top to bottom, whatever comes below. Where that cell is as it was handed out, empty, gone, or does
    not make what the check looks at, but another cell of the student's does, that one is the answer, and the cell that
    was left as it was does not run. If one stands above the check, the check is where it was; if all stand below, the
    student ran cells out of order, and the check comes after the last of them that stands before the next exercise's
    check, else after the last of all.
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
        elif not _same_text(cell.text, original.text):
            noticed.append(f"{_name(original)} was edited; the original ran")
            around = before if original.role == "check" else after
            around.setdefault(place, []).append(NotebookStep("extra", cell.text))
            if name := _checked_instead(released, original, cell, cells):
                expression = released.exercises[original.number].expression
                around[place].append(NotebookStep("extra", f"{expression} = {name}"))
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
    for cell in released.cells:
        if cell.role == "answer" and (moved := _answer_elsewhere(released, cell, steps, answers.get(cell.id))):
            steps, elsewhere[cell.number] = moved
            noticed.append(f"your answer to {cell.number} was found in another cell")
    missing = frozenset(cell.number for cell in gone if cell.role == "answer") - elsewhere.keys()
    noticed += [f"{_name(cell)} is missing" for cell in gone if cell.role == "answer" and cell.number in missing]
    return RebuiltNotebook(tuple(steps), tuple(noticed), missing, elsewhere)


def _checked_instead(
    released: ReleasedNotebook, original: ReleasedCell, cell: SubmittedCell, cells: list[SubmittedCell]
) -> str | None:
    """The name that an edited check looks at, where nothing has the name that it should look at."""
    expression = released.exercises[original.number].expression if original.role == "check" else ""
    tree = read_cell(cell.text).tree if expression.isidentifier() else None
    names = [
        node.args[1].id
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.Call)
        and [type(part) for part in (node.func, *node.args)] == [ast.Name, ast.Constant, ast.Name]
        and (node.func.id, node.args[0].value) == ("check", original.number)
    ]
    if not names or expression in names:
        return None
    stubs = {_plain(answer.text) for answer in released.cells if answer.role == "answer"}
    codes = [code.text for code in cells if code.kind == "code" and expression in code.text]
    own = [text for text in codes if _plain(text) not in stubs]
    return None if any(expression in defined_names(read_cell(text)) for text in own) else names[-1]


def _answer_elsewhere(
    released: ReleasedNotebook, cell: ReleasedCell, steps: list[NotebookStep], own: NotebookStep | None
) -> tuple[list[NotebookStep], str] | None:
    """The steps with an answer that does not stand in its own cell in its place, and its text; None if there is none."""
    name = released.exercises[cell.number].expression.partition(".")[0]
    if own is not None and name in _made_by(own, name) and not _same_code(own.text, cell.text):
        return None
    untouched = own is not None and _same_code(own.text, cell.text)
    steps = [step for step in steps if not (untouched and step is own)]
    makers = [step for step in steps if step.role in ("answer", "extra") and step is not own and _made_by(step, name)]
    if not makers:
        return None
    where = {id(step): index for index, step in enumerate(steps)}
    probe = next(step for step in steps if step.role == "check" and step.number == cell.number)
    above = [step for step in makers if where[id(step)] < where[id(probe)]]
    if above:
        answer = above[-1]
    else:
        later = [where[id(step)] for step in steps[where[id(probe)] + 1 :] if step.role == "check"]
        near = [step for step in makers if not later or where[id(step)] < later[0]]
        answer = (near or makers)[-1]
        steps.remove(probe)
        steps.insert(where[id(answer)], probe)  # the answer itself has moved up by one
    if answer.role == "extra":
        steps[next(i for i, step in enumerate(steps) if step is answer)] = NotebookStep(
            "answer", answer.text, cell.number
        )
    return steps, answer.text


def _made_by(step: NotebookStep, name: str) -> set[str]:
    """``{name}`` if the cell gives it a value, else nothing."""
    return {name} & defined_names(read_cell(step.text)) if name in step.text else set()


def _same_text(text: str, released: str) -> bool:
    """Whether two cells differ in line ends and trailing blanks at most."""
    return _plain(text) == _plain(released)


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _same_code(text: str, released: str) -> bool:
    """Whether two cells differ in comments and blanks at most."""
    if _same_text(text, released):
        return True
    trees = [read_cell(text).tree, read_cell(released).tree]
    if None in trees or len(text) > 2 * len(released) + 1_000:
        return False
    return ast.dump(trees[0]) == ast.dump(trees[1])


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
    sections = _sections(cells)
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
        left = [index for index in free if index not in owner]
        named = [
            index for index in left if name in cells[index].text and name in defined_names(read_cell(cells[index].text))
        ]
        here = [index for index in left if sections[index] == cell.number]
        for choice in ([i for i in named if i in here], named, here):
            if choice:
                take(choice[0], cell)
                break
    return owner, noticed


def _sections(cells: list[SubmittedCell]) -> list[str]:
    """The exercise under whose heading each cell stands."""
    number, sections = "", []
    for cell in cells:
        if cell.kind == "markdown" and (heading := HEADING.search(cell.text)):
            number = heading.group(1)
        sections.append(number)
    return sections


def _name(cell: ReleasedCell) -> str:
    """What a person calls a released cell."""
    if cell.role != "provided":
        return f"the {'check' if cell.role == 'check' else 'answer cell'} of {cell.number}"
    lines = (line.strip() for line in cell.text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return f"the page's cell that begins with `{first[:60]}`"
