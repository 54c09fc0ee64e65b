"""The catalogue of exercises that the checks read: number, title, points, answer and quiz options, from the sources."""

import ast
import json
import re
from pathlib import Path

from .source import Source, SourceExercise

PATH = "course_utils/checks/catalogue.json"
OPTION = re.compile(r"^- \*\*([a-z])\.\*\* (.+)$", re.MULTILINE)


def catalogue_text(sources: list[Source]) -> str:
    """The catalogue as the text of its file, in the order of the lessons."""
    exercises = [exercise for source in sources if source.kind == "exercise" for exercise in source.exercises]
    entries = {exercise.number: _entry(exercise) for exercise in exercises}
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def differs(root: Path, sources: list[Source]) -> bool:
    """Whether the catalogue on disk is not what the sources say."""
    path = root / PATH
    return not path.is_file() or path.read_text(encoding="utf-8") != catalogue_text(sources)


def _entry(exercise: SourceExercise) -> dict:
    quiz = any("quiz" in cell.tags for cell in exercise.answers)
    entry = {"title": exercise.title, "points": exercise.points, "answer": _answer(exercise)}
    return entry | {"options": dict(OPTION.findall(exercise.heading.text))} if quiz else entry


def _answer(exercise: SourceExercise) -> str:
    """What the check cell hands over, as it is written there."""
    calls = [node for node in ast.walk(ast.parse(exercise.check.text)) if isinstance(node, ast.Call)]
    call = next(node for node in calls if getattr(node.func, "id", None) == "check")
    return ast.unparse(call.args[1])
