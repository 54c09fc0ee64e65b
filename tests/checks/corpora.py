"""Answers of known worth, to measure the checks on: what the first tables knew, and what others wrote from the statements.

``corpus/tables`` was generated once from the tables that the checks began with. ``corpus/independent`` holds answers by
people who had the exercises' statements and nothing else; its README.md says how a file reads.
"""

import functools
import importlib
import linecache
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("corpus")
SECTION = re.compile(r"^# %% (setup|wrong|two mistakes|right)(?:: (.*))?$", re.MULTILINE)


class Answer(NamedTuple):
    """One answer to an exercise.

    Args:
        corpus: ``tables`` or ``independent``.
        number: The exercise.
        kind: ``wrong``, ``two mistakes``, ``right`` or ``off limits`` (right, but not what is asked for).
        about: What it does wrong, or in what way it is unusual.
        answer: The function or class.
    """

    corpus: str
    number: str
    kind: str
    about: str
    answer: object

    @property
    def is_right(self) -> bool:
        """Whether it must be accepted."""
        return self.kind == "right"


def answers(number: str, name: str) -> list[Answer]:
    """Both corpora's answers to one exercise; ``name`` is what the notebook calls the answer."""
    return [*_of_the_tables(number), *_independent(number, name)]


@functools.cache
def _tables(lesson: int) -> dict:
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    try:
        module = importlib.import_module(f"tables.lesson_{lesson:02d}")
    except ModuleNotFoundError:  # a lesson that came later
        return {}
    return {entry.number: entry for entry in module.EXERCISES}


def _of_the_tables(number: str) -> Iterator[Answer]:
    entry = _tables(int(number.split(".")[0])).get(number)
    if entry is None:
        return
    for wrong in entry.mistakes:
        yield Answer("tables", number, "wrong", wrong.name, wrong.implementation)
    for right in entry.alternatives:
        yield Answer("tables", number, "off limits" if right.off_limits else "right", right.name, right.implementation)


def sections(number: str) -> Iterator[tuple[str, str, str]]:
    """``kind``, ``about`` and the text of each independent answer to one exercise, with what it needs before it."""
    lesson, place = number.split(".")
    for path in sorted(
        (FOLDER / "independent" / f"lesson_{int(lesson):02d}").glob(f"exercise_{lesson}_{place}[._]*py")
    ):
        text = path.read_text(encoding="utf-8")
        found = list(SECTION.finditer(text))
        bodies = [
            text[one.end() : following.start() if following else len(text)]
            for one, following in zip(found, [*found[1:], None], strict=True)
        ]
        setup = "".join(body for match, body in zip(found, bodies, strict=True) if match.group(1) == "setup")
        for match, body in zip(found, bodies, strict=True):
            if match.group(1) != "setup":
                yield match.group(1), match.group(2) or "", f"{setup}\n{body}"


def _independent(number: str, name: str) -> Iterator[Answer]:
    for index, (kind, about, text) in enumerate(sections(number)):
        yield Answer("independent", number, kind, about, _run(text, f"<{number}, answer {index}>")[name])


def _run(text: str, file: str) -> dict:
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), namespace)
    return namespace
