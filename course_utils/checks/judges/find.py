"""From an exercise's number to what its file says, with what the catalogue knows of it."""

import dataclasses
import functools
import importlib
import pkgutil

from ..catalogue import catalogue, listed
from .exercise import Entry, Exercise, Quiz
from .experiment import Experiment


@functools.cache
def find(number: str) -> Entry:
    """The entry of one exercise.

    Raises:
        ValueError: There is no such exercise.
        LookupError: The lesson's folder has no file for it.
    """
    entry = listed(number)
    exercises, quizzes = _entries(entry.lesson)
    found = quizzes.get(number) if entry.is_quiz else exercises.get(entry.answer)
    if found is None:
        raise LookupError(f"exercise {number} ({entry.answer}) has no file in judges/lessons/lesson_{entry.lesson:02d}")
    return dataclasses.replace(found, listed=entry)


def all_entries() -> dict[str, Entry]:
    """Every entry of every lesson, in order."""
    return {number: find(number) for number in catalogue()}


@functools.cache
def _entries(lesson: int) -> tuple[dict[str, Exercise | Experiment], dict[str, Quiz]]:
    """The coding exercises and experiments by the answer's name, and the quizzes by number."""
    package = importlib.import_module(f"{__package__}.lessons.lesson_{lesson:02d}")
    modules = [importlib.import_module(f"{package.__name__}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    exercises = [
        getattr(module, kind) for module in modules for kind in ("EXERCISE", "EXPERIMENT") if hasattr(module, kind)
    ]
    quizzes = [module.QUIZZES for module in modules if hasattr(module, "QUIZZES")]
    found = {number: quiz for some in quizzes for number, quiz in some.items()}
    return {e.answer: e for e in exercises}, found
