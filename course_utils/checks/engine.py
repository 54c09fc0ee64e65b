"""``check(number, answer)``: the whole interface that a notebook uses."""

import functools
import importlib
import pkgutil
import re

from .exercise import Exercise, Quiz
from .global_state import neutral_state
from .verdict import Verdict

SEED = 20170612  # fixed, so that a notebook shows the same message on every run; the grader draws its own


class NotYet(Exception):
    """An answer that does not earn its points (yet). The message is all there is to read: no stack is shown."""

    def _render_traceback_(self) -> list[str]:
        """IPython, Jupyter and nbval show these lines in the place of a traceback."""
        return str(self).split("\n")


def check(number: str, answer: object) -> None:
    """Check an answer: a green line if it is right, an error that says what differs if it is not.

    Args:
        number: The exercise, such as ``"1.2"``.
        answer: The function, class or quiz letter that the exercise asks for.

    Raises:
        NotYet: The answer is missing or not right yet.
        ValueError: There is no such exercise.
    """
    exercise = find(number)
    verdict = run(exercise, answer)
    if not verdict.passed:
        raise NotYet(verdict.text()) from None
    _show(verdict)


def run(exercise: Exercise | Quiz, answer: object, seed: int = SEED) -> Verdict:
    """Probe and judge in this process, leaving every global state as it was."""
    with neutral_state():
        inputs = exercise.inputs(seed)
    return exercise.judge(inputs, exercise.probe(answer, inputs))


def find(number: str) -> Exercise | Quiz:
    """The entry of one exercise.

    Raises:
        ValueError: There is no such exercise.
    """
    lesson = re.fullmatch(r"(\d{1,2})\.\d+", number) if isinstance(number, str) else None
    entries = lesson_entries(int(lesson.group(1))) if lesson else {}
    if number not in entries:
        hint = (
            f"lesson {int(lesson.group(1))} has {', '.join(entries)}"
            if entries
            else 'write it as in check("1.2", answer)'
        )
        raise ValueError(f"there is no exercise {number!r}: {hint}")
    return entries[number]


@functools.cache
def lesson_entries(lesson: int) -> dict[str, Exercise | Quiz]:
    """The entries of one lesson by number; empty if the lesson has no check file."""
    name = f"{__package__}.lesson_{lesson:02d}"
    if importlib.util.find_spec(name) is None:
        return {}
    return {entry.number: entry for entry in importlib.import_module(name).EXERCISES}


def all_entries() -> dict[str, Exercise | Quiz]:
    """Every entry of every lesson, in order."""
    package = importlib.import_module(__package__)
    names = sorted(
        module.name for module in pkgutil.iter_modules(package.__path__) if module.name.startswith("lesson_")
    )
    return {number: entry for name in names for number, entry in lesson_entries(int(name[-2:])).items()}


def _show(verdict: Verdict) -> None:
    """The green box where there is a notebook, its text elsewhere."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        get_ipython = lambda: None  # noqa: E731
    if get_ipython() is None:
        print(verdict.text())
    else:
        display({"text/plain": verdict.text(), "text/html": verdict.html()}, raw=True)
