"""What was handed in, run after run: one list in the output folder, so that several lessons stand side by side."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from course_utils.files import write_whole

NAME = "submissions.json"


@dataclass(frozen=True)
class Entry:
    """One file of one student, as it stands in the table.

    Args:
        student: Who handed it in.
        label: What the file is called; empty where there is none.
        lesson: That it belongs to; empty for none, or where nobody could tell.
        counts: Its result is the student's result for this lesson.
        note: Why it does not count, for the student's row.
        modified: Seconds since 1970; 0 where there is no date.
        review: Someone should look at it.
        scope: The lessons that were graded when this was written down.
    """

    student: str
    label: str
    lesson: str = ""
    counts: bool = False
    note: str = ""
    modified: float = 0.0
    review: bool = False
    scope: tuple[str, ...] = ()

    @property
    def result(self) -> tuple[str, str, str]:
        """What its result is found by in the output folder."""
        return self.student, self.label, self.lesson


def recorded(folder: Path) -> list[Entry]:
    """What earlier runs wrote down; where that is lost, what their results tell."""
    try:
        return [_entry(found) for found in json.loads((folder / NAME).read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        pass
    entries = []
    for path in sorted((folder / "results").glob("*.json")):
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            entries.append(_entry(found["entry"]))
        except (OSError, ValueError, TypeError, AttributeError, KeyError):
            continue  # it is graded again when its lesson is
    return entries


def record(folder: Path, entries: Iterable[Entry]) -> None:
    """Write down what was handed in."""
    write_whole(folder / NAME, json.dumps([asdict(entry) for entry in entries], indent=1) + "\n")


def merged(earlier: Iterable[Entry], now: Iterable[Entry], graded: Iterable[str]) -> list[Entry]:
    """What stands in the output folder after a run.

    A run has the last word on the students that it saw, for the lessons that it graded; everything else stays.

    Args:
        earlier: What stood there before.
        now: Every file that this run saw.
        graded: The lessons that it graded.
    """
    now, graded = list(now), frozenset(graded)
    students = {entry.student for entry in now}
    seen = {(entry.student, entry.lesson) for entry in now}
    unknown = {(entry.student, entry.label) for entry in now if not entry.lesson}  # a file that can be read no more

    def stays(entry: Entry) -> bool:
        if entry.lesson:
            replaced = (entry.student, entry.lesson) in seen or (entry.student, entry.label) in unknown
            return entry.lesson not in graded or not replaced
        again = graded.issuperset(entry.scope) or (entry.student, entry.label) in unknown
        return entry.student not in students or not again

    kept = [entry for entry in earlier if stays(entry)]
    graded_before = {(entry.student, entry.lesson) for entry in kept if entry.lesson}
    new = [entry for entry in now if entry.lesson in graded or (entry.student, entry.lesson) not in graded_before]
    return sorted([*kept, *new], key=lambda entry: (entry.student, entry.lesson, not entry.counts, entry.label))


def _entry(found: dict) -> Entry:
    types = {field.name: field.type for field in fields(Entry)}
    values = {name: found[name] for name in types}
    if not all(isinstance(values[name], kind) for name, kind in types.items() if isinstance(kind, type)):
        raise ValueError("a part of the wrong type")
    return Entry(**values | {"scope": tuple(values["scope"])})
