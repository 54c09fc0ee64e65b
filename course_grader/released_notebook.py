"""The released notebook: the exercises as they were handed out, and what of them is an answer, a check, or provided."""

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from course_checks.catalogue import catalogue_entry


@dataclass(frozen=True)
class ReleasedCell:
    """One code cell: its id, text, and what it is for (``answer``, ``check`` or ``provided``) in which exercise."""

    id: str
    text: str
    role: str
    number: str = ""


@dataclass(frozen=True)
class ReleasedExercise:
    """One exercise: what it is worth, and the expression that its check looks at."""

    number: str
    points: float
    expression: str


@dataclass(frozen=True)
class ReleasedNotebook:
    """One lesson's exercise notebook."""

    stem: str  # its file name without the ending
    cells: tuple[ReleasedCell, ...]  # the code cells, in order
    exercises: dict[str, ReleasedExercise] = field(hash=False)  # by number, in order

    def answer(self, number: str) -> str:
        """What stands in the answer cell of one exercise."""
        return "\n".join(cell.text for cell in self.cells if cell.role == "answer" and cell.number == number)


def load_releases(folder: Path, lesson: str | None = None) -> dict[str, ReleasedNotebook]:
    """The released notebooks of a folder by lesson: all, or that of ``lesson``; none is an error."""
    paths = sorted(path for path in folder.glob("*.ipynb") if re.match(r"\d\d_", path.name))
    wanted = None if lesson is None else f"{int(lesson):02d}" if lesson.isdigit() else lesson
    releases = {path.name[:2]: _read(path) for path in paths if wanted in (None, path.name[:2])}
    if not releases:
        kind = "exercise notebook" if lesson is None else f"exercise notebook for lesson {lesson}"
        raise ValueError(f"masters ({folder}): there is no {kind} in this folder; expected NN_name.ipynb")
    return releases


def _read(path: Path) -> ReleasedNotebook:
    try:
        return parse(path.stem, path.read_bytes())
    except OSError as problem:
        raise ValueError(f"masters ({path}): cannot be read: {problem.strerror}; expected a notebook") from None
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        why = problem if type(problem) is ValueError else f"{type(problem).__name__} ({problem})"
        raise ValueError(f"masters ({path}): expected an exercise notebook as the build made it, found {why}") from None


def parse(stem: str, data: bytes) -> ReleasedNotebook:
    """Read a released notebook. It is the course's own file, so faults in it are the course's and are raised."""
    cells, exercises = [], {}
    for cell in json.loads(data)["cells"]:
        if cell["cell_type"] != "code":
            continue
        text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        marks = cell["metadata"].get("nbgrader", {})
        role = "check" if marks.get("grade") else "answer" if marks.get("solution") else "provided"
        number = ""
        if role == "check":
            number, expression = checked(text)
            catalogue_entry(number)  # it exists
            exercises[number] = ReleasedExercise(number, marks["points"], expression)
        elif role == "answer":
            number = ".".join(cell["id"].split("-")[1:3])
        cells.append(ReleasedCell(cell["id"], text, role, number))
    return ReleasedNotebook(stem, tuple(cells), exercises)


def checked(text: str) -> tuple[str, str]:
    """Number and answer of the call ``check("5.2", causal_mask)`` in a cell."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check":
            number, answer = node.args
            return ast.literal_eval(number), ast.unparse(answer)
    raise ValueError(f"a check cell without check(number, answer): {text!r}")
