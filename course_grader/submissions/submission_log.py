"""What was handed in, run after run: one list in the output folder, so that several lessons stand side by side."""

import contextlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from course_utils.files import write_whole

FILE = "submissions.json"


@dataclass(frozen=True)
class LogEntry:
    """One file of one student, as it stands in the table."""

    student: str  # who handed it in
    label: str  # what the file is called; empty where there is none
    lesson: str = ""  # that it belongs to; empty for none, or where nobody could tell
    counts: bool = False  # its result is the student's result for this lesson
    note: str = ""  # why it does not count, for the student's row
    modified: float = 0.0  # seconds since 1970; 0 where there is no date
    review: bool = False  # someone should look at it
    scope: tuple[str, ...] = ()  # the lessons that were graded when this was written down

    @property
    def result(self) -> tuple[str, str, str]:
        """What its result is found by in the output folder."""
        return self.student, self.label, self.lesson


def read_log(folder: Path) -> list[LogEntry]:
    """What earlier runs wrote down; where that is lost, what their results tell."""
    damaged = (OSError, ValueError, TypeError, AttributeError, KeyError)
    with contextlib.suppress(*damaged):
        return [_entry(stored) for stored in json.loads((folder / FILE).read_text(encoding="utf-8"))]
    entries = []
    for path in sorted((folder / "results").glob("*.json")):
        with contextlib.suppress(*damaged):  # it is graded again when its lesson is
            entries.append(_entry(json.loads(path.read_text(encoding="utf-8"))["entry"]))
    return entries


def write_log(folder: Path, entries: Iterable[LogEntry]) -> None:
    """Write down what was handed in."""
    write_whole(folder / FILE, json.dumps([asdict(entry) for entry in entries], indent=1) + "\n")


def merge_logs(earlier: Iterable[LogEntry], now: Iterable[LogEntry], graded: Iterable[str]) -> list[LogEntry]:
    """What stands in the output folder after a run.

    A run has the last word on the students that it saw, for the lessons that it graded; everything else stays.
    """
    now, graded = list(now), frozenset(graded)
    students = {entry.student for entry in now}
    seen = {(entry.student, entry.lesson) for entry in now}
    unknown = {(entry.student, entry.label) for entry in now if not entry.lesson}  # a file that can be read no more

    def stays(entry: LogEntry) -> bool:
        if entry.lesson:
            replaced = (entry.student, entry.lesson) in seen or (entry.student, entry.label) in unknown
            return entry.lesson not in graded or not replaced
        again = graded.issuperset(entry.scope) or (entry.student, entry.label) in unknown
        return entry.student not in students or not again

    kept = [entry for entry in earlier if stays(entry)]
    graded_before = {(entry.student, entry.lesson) for entry in kept if entry.lesson}
    new = [entry for entry in now if entry.lesson in graded or (entry.student, entry.lesson) not in graded_before]
    return sorted([*kept, *new], key=lambda entry: (entry.student, entry.lesson, not entry.counts, entry.label))


def _entry(stored: dict) -> LogEntry:
    return LogEntry(**stored | {"scope": tuple(stored["scope"])})
