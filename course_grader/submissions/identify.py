"""Which lesson a notebook belongs to, and whether it is a student's work or the course's own text."""

from collections import Counter
from collections.abc import Iterable

from ..released_notebook import ReleasedNotebook
from .file_names import parts_of
from .rebuild import CHECK, SubmittedCell

# as the build writes it into a notebook's metadata
EXERCISE, SOLUTION, LESSON, TOUR = "exercise", "solution", "lesson", "tour"
FOLDERS = {"solutions": SOLUTION, "notebooks": LESSON}
MARK = "# BEGIN SOLUTION"  # stands in the course's own solutions only: the build takes it out of what students get


def lesson_of(cells: list[SubmittedCell], releases: dict[str, ReleasedNotebook]) -> str | None:
    """Which lesson a notebook belongs to: by its cells' ids, else by its checks.

    ``releases`` are all lessons of the course, not only those that are graded.
    """
    ids = {cell.id for cell in cells} | {cell.grade_id for cell in cells}
    own = {lesson: {c.id for c in released.cells if c.role != "provided"} for lesson, released in releases.items()}
    counts = Counter({lesson: len(ids & own[lesson]) for lesson in releases if ids & own[lesson]})
    calls = Counter(call.group(1).partition(".")[0].zfill(2) for cell in cells for call in CHECK.finditer(cell.text))
    likely = [lesson for lesson, _ in (*counts.most_common(), *calls.most_common())]
    return next((lesson for lesson in likely if lesson in releases), None)


def kind_of(metadata: dict, label: str) -> str:
    """What the build made this notebook as: for students, as a solution, or as a lesson's page.

    Where it does not say so itself, the folder tells that it lies in, as in a copy of the whole course.
    """
    kind = _course(metadata).get("kind")
    if kind in (EXERCISE, SOLUTION, LESSON, TOUR):
        return kind
    return next((FOLDERS[part] for part in parts_of(label)[:-1] if part in FOLDERS), EXERCISE)


def is_untouched(cells: Iterable[SubmittedCell], released: ReleasedNotebook) -> bool:
    """Whether no answer differs from what was handed out."""
    known = {cell.id: cell.text.strip() for cell in released.cells}
    return all(cell.text.strip() == known.get(cell.id) for cell in cells if cell.kind == "code" and cell.text.strip())


def is_unchanged_solution(cells: list[SubmittedCell], metadata: dict, released: ReleasedNotebook) -> bool:
    """Whether a notebook is the course's solution with nothing of a student's in it."""
    ids = {cell.id for cell in released.cells if cell.role == "answer"}
    answers = [cell.text for cell in cells if cell.id in ids]
    return _course(metadata).get("kind") == SOLUTION and bool(answers) and all(MARK in text for text in answers)


def _course(metadata: dict) -> dict:
    course = metadata.get("course")
    return course if isinstance(course, dict) else {}
