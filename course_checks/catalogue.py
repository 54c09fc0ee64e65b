"""Number, title, worth and quiz options of every exercise, as the build read them from the exercise sources."""

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("catalogue.json")


@dataclass(frozen=True)
class CatalogueEntry:
    """One exercise of the course.

    Args:
        number: Such as ``"5.2"``.
        title: As in the notebook's heading.
        points: What it is worth.
        minutes: About how long it takes.
        is_core: Whether it is on the short path.
        answer: What the notebook calls the answer, such as ``"causal_mask"``.
        options: Letter -> text of a quiz; None for a coding exercise.
    """

    number: str
    title: str
    points: int
    minutes: int
    is_core: bool
    answer: str
    options: dict[str, str] | None = None

    @property
    def lesson(self) -> int:
        """The lesson it belongs to."""
        return int(self.number.split(".")[0])

    @property
    def is_quiz(self) -> bool:
        """Whether a letter answers it."""
        return self.options is not None


@functools.cache
def catalogue() -> dict[str, CatalogueEntry]:
    """Every exercise by number, in order."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    return {number: CatalogueEntry(number, **entry) for number, entry in entries.items()}


def catalogue_entry(number: object) -> CatalogueEntry:
    """One exercise.

    Raises:
        ValueError: There is no such exercise.
    """
    entries = catalogue()
    if isinstance(number, str) and number in entries:
        return entries[number]
    lesson = re.fullmatch(r"(\d{1,2})\.\d+", number) if isinstance(number, str) else None
    same = [entry.number for entry in entries.values() if lesson and entry.lesson == int(lesson.group(1))]
    hint = f"lesson {int(lesson.group(1))} has {', '.join(same)}" if same else 'write it as in check("1.2", answer)'
    raise ValueError(f"there is no exercise {number!r}: {hint}")
