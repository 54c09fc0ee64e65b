"""What a notebook belongs to: which lesson, and whether it is a student's work or the course's own text."""

import re
from collections import Counter
from collections.abc import Iterable

from ..master import Master
from .file_names import parts_of
from .rebuild import Handed

STUDENTS, SOLUTION, PAGE = "exercise", "solution", "lesson"  # as the build writes it into a notebook's metadata
FOLDERS = {"solutions": SOLUTION, "notebooks": PAGE}
CALL = re.compile(r"""^[ \t]*check\([ \t]*["'](\d{1,2})\.\d{1,2}["']""", re.MULTILINE)
MARK = "# BEGIN SOLUTION"  # stands in the course's own solutions only: the build takes it out of what students get


def lesson_of(cells: list[Handed], metadata: dict, label: str, masters: dict[str, Master]) -> str | None:
    """Which lesson a notebook belongs to: by its cells' ids, by what it says of itself, by its checks, by its name.

    Args:
        cells: Of the notebook.
        metadata: Of the notebook.
        label: What it is called.
        masters: All lessons of the course, not only those that are graded.
    """
    ids = {cell.id for cell in cells} | {cell.grade_id for cell in cells}
    counts = Counter({lesson: len(ids & _own_ids(master)) for lesson, master in masters.items()})
    for lesson, count in counts.most_common(1):
        if count:
            return lesson
    built_from = str(_course(metadata).get("built_from"))
    page = _course(metadata).get("kind") == PAGE
    for lesson, master in masters.items():
        if not page and built_from.endswith(f"/{master.stem}.py"):
            return lesson
    calls = Counter(call.group(1).partition(".")[0].zfill(2) for cell in cells for call in CALL.finditer(cell.text))
    for lesson, _ in calls.most_common():
        if lesson in masters:
            return lesson
    return next((lesson for lesson, master in masters.items() if not page and master.stem in label), None)


def kind_of(metadata: dict, label: str) -> str:
    """What the build made this notebook as: for students, as a solution, or as a lesson's page.

    Where it does not say so itself, the folder tells that it lies in, as in a copy of the whole course.
    """
    kind = _course(metadata).get("kind")
    if kind in (STUDENTS, SOLUTION, PAGE):
        return kind
    return next((FOLDERS[part] for part in parts_of(label)[:-1] if part in FOLDERS), STUDENTS)


def is_untouched(cells: Iterable[Handed], master: Master) -> bool:
    """Whether no answer differs from what was handed out."""
    known = {cell.id: cell.text.strip() for cell in master.cells}
    return all(cell.text.strip() == known.get(cell.id) for cell in cells if cell.kind == "code" and cell.text.strip())


def is_solution_as_built(cells: list[Handed], metadata: dict, master: Master) -> bool:
    """Whether a notebook is the course's solution with nothing of a student's in it."""
    answers = {cell.id for cell in master.cells if cell.role == "answer"}
    found = [cell.text for cell in cells if cell.id in answers]
    return _course(metadata).get("kind") == SOLUTION and bool(found) and all(MARK in text for text in found)


def of_the_course(cells: list[Handed], metadata: dict) -> tuple[str, ...]:
    """What tells that a notebook, or a part of it, was taken from the course's solutions; for an instructor to see."""
    noticed = []
    if _course(metadata).get("kind") == SOLUTION:
        noticed.append("it was made from the course's own solution notebook, as it says itself")
    marked = sum(MARK in cell.text for cell in cells if cell.kind == "code")
    if marked:
        noticed.append(f"{marked} of its cells carry the mark of the course's own solutions ({MARK})")
    return tuple(noticed)


def _own_ids(master: Master) -> set[str]:
    return {cell.id for cell in master.cells if cell.role != "given"}


def _course(metadata: dict) -> dict:
    course = metadata.get("course")
    return course if isinstance(course, dict) else {}
