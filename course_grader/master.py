"""The master: the exercise notebook as it was handed out, and what of it is an answer, a check, or given."""

import ast
import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from course_checks.catalogue import catalogue_entry


@dataclass(frozen=True)
class Cell:
    """One code cell: its id, text, and what it is for (``answer``, ``check`` or ``given``) in which exercise."""

    id: str
    text: str
    role: str
    number: str = ""


@dataclass(frozen=True)
class MasterExercise:
    """One exercise: what it is worth, and the expression that its check looks at."""

    number: str
    title: str
    points: float
    expression: str


@dataclass(frozen=True)
class Master:
    """One lesson's exercise notebook.

    Args:
        lesson: Its number, such as ``"05"``.
        stem: Its file name without the ending.
        cells: The code cells, in order.
        exercises: By number, in order.
        digest: Of the file.
    """

    lesson: str
    stem: str
    cells: tuple[Cell, ...]
    exercises: dict[str, MasterExercise] = field(hash=False)
    digest: str

    @property
    def total(self) -> float:
        """All points."""
        return sum(exercise.points for exercise in self.exercises.values())


def load_masters(folder: Path, lesson: str | None = None) -> dict[str, Master]:
    """The masters of a folder by lesson.

    Raises:
        ValueError: The folder holds none, or none for ``lesson``.
    """
    paths = sorted(path for path in folder.glob("*.ipynb") if re.match(r"\d\d_", path.name))
    wanted = None if lesson is None else f"{int(lesson):02d}" if lesson.isdigit() else lesson
    masters = {path.name[:2]: parse(path.stem, path.read_bytes()) for path in paths if wanted in (None, path.name[:2])}
    if not masters:
        kind = "exercise notebook" if lesson is None else f"exercise notebook for lesson {lesson}"
        raise ValueError(f"masters ({folder}): there is no {kind} in this folder; expected NN_name.ipynb")
    return masters


def parse(stem: str, data: bytes) -> Master:
    """Read a master. It is the course's own file, so faults in it are the course's and are raised.

    Raises:
        ValueError: A check cell does not call ``check("N.M", answer)``, or there is no such exercise.
    """
    cells, exercises = [], {}
    for cell in json.loads(data)["cells"]:
        if cell["cell_type"] != "code":
            continue
        text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        marks = cell["metadata"].get("nbgrader", {})
        role = "check" if marks.get("grade") else "answer" if marks.get("solution") else "given"
        number = ""
        if role == "check":
            number, expression = checked(text)
            title = catalogue_entry(number).title
            exercises[number] = MasterExercise(number, title, marks["points"], expression)
        elif role == "answer":
            number = ".".join(cell["id"].split("-")[1:3])
        cells.append(Cell(cell["id"], text, role, number))
    return Master(stem[:2], stem, tuple(cells), exercises, hashlib.sha256(data).hexdigest())


def checked(text: str) -> tuple[str, str]:
    """Number and answer of the call ``check("5.2", causal_mask)`` in a cell.

    Raises:
        ValueError: There is no such call.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check":
            number, answer = node.args
            return ast.literal_eval(number), ast.unparse(answer)
    raise ValueError(f"a check cell without check(number, answer): {text!r}")
