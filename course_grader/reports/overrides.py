"""``overrides.csv``: what an instructor decides by hand. It is never written to once it is there."""

import difflib
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from course_checks.catalogue import catalogue

from .csv_files import read, safe
from .lateness import parse_due

if TYPE_CHECKING:
    from .gradebook import Student

FILE = "overrides.csv"
GROUP = re.compile(r"group\s+(?P<name>.+)", re.IGNORECASE)
COLUMNS = ("student", "exercise", "points", "due", "comment")
TEMPLATE = Path(__file__).parent / "templates" / "overrides.csv"  # what it is at first


@dataclass(frozen=True)
class Override:
    """One row."""

    line: int
    student: str  # as in the table's first column, the roster's id, address, user name or full name, or "group A"
    lesson: str  # such as "05"
    exercise: str = ""  # such as "5.2"; empty where the row is about the lesson
    points: float | None = None  # instead of what was earned; None leaves that
    due: datetime | None = None  # another deadline
    comment: str = ""  # for the student to read


def read_overrides(folder: Path) -> list[Override]:
    """The rows; none where there is no file. The error of a mistyped one names line, value and what was expected."""
    path = folder / FILE
    if not path.exists():
        return []
    header, rows = read(path, "overrides")
    if unknown := sorted(set(header) - set(COLUMNS) - {""}) + sorted({"student", "exercise"} - set(header)):
        raise ValueError(
            f"overrides ({path}): its header is {', '.join(header) or 'empty'}; expected {', '.join(COLUMNS)} "
            f"(see {', '.join(unknown)})"
        )
    overrides: list[Override] = []
    seen: dict[tuple[str, str, str], int] = {}
    for row in rows:
        try:
            override = _override(row.line, {name: row.values.get(name, "") for name in COLUMNS})
            earlier = seen.setdefault((override.student, override.lesson, override.exercise), row.line)
            if earlier != row.line:
                raise ValueError(f"line {earlier} is about the same; expected one row for each")
        except ValueError as problem:
            raise ValueError(f"overrides ({path}), line {row.line}: {problem}") from None
        overrides.append(override)
    return overrides


def _override(line: int, values: dict[str, str]) -> Override:
    if not values["student"]:
        raise ValueError("student is empty; expected a name as in grades.csv")
    lesson, exercise, worth = _place(values["exercise"])
    points = due = None
    if values["points"]:
        try:
            points = float(values["points"].replace(",", "."))
        except ValueError:
            points = math.nan
        if not 0 <= points <= worth:
            raise ValueError(f"points is {values['points']!r}; expected a number from 0 to {worth:g}, or nothing")
    if values["due"]:
        if exercise:
            raise ValueError(f"due stands beside exercise {exercise}; expected it in a row of its own for the lesson")
        due = parse_due(values["due"])
    if points is None and due is None and not values["comment"]:
        raise ValueError("points, due and comment are all empty; expected one of them")
    return Override(line, values["student"], lesson, exercise, points, due, values["comment"])


def _place(text: str) -> tuple[str, str, float]:
    """Lesson, exercise and worth of ``5.2``, ``lesson 05`` or ``05``."""
    plain = re.sub(r"^(exercise|lesson)\s+", "", text.lower())
    if text == plain and f"{plain}0" in catalogue():
        raise ValueError(f"exercise is {text!r}, which a spreadsheet makes of {text}0 too; expected 'exercise {text}'")
    if plain in catalogue():
        return f"{catalogue()[plain].lesson:02d}", plain, catalogue()[plain].points
    if re.fullmatch(r"\d{1,2}", plain):
        worth = sum(entry.points for entry in catalogue().values() if entry.lesson == int(plain))
        if worth:
            return f"{int(plain):02d}", "", worth
    raise ValueError(f"exercise is {text!r}; expected an exercise such as 5.2 or a lesson such as lesson 05")


def decided_for(
    overrides: Sequence[Override], students: Sequence["Student"], folder: Path
) -> list[tuple[Override, "Student"]]:
    """Each row with each student whom it is about: groups first, so that a student's own row has the last word."""
    by_name, by_group = defaultdict(list), defaultdict(list)
    for student in students:
        person = student.person
        names = {student.name, *(entry.student for entry in student.files)}
        names |= {person.id, person.email, person.user, person.name} - {""} if person else set()
        for written in {form for name in names for form in (name, name.strip(), safe(name))}:
            by_name[written].append(student)
        for group in person.groups if person else ():
            by_group[group].append(student)
    of_groups, of_students = [], []
    for override in sorted(overrides, key=lambda row: row.due.timestamp() if row.due else 0.0):
        called = GROUP.fullmatch(override.student)
        try:
            if override.student in by_name or not called:
                of_students.append((override, _one(override.student, by_name)))
            else:
                of_groups += [(override, student) for student in _group(override, called["name"], by_group)]
        except ValueError as problem:
            raise ValueError(f"overrides ({folder / FILE}), line {override.line}: {problem}") from None
    return of_groups + of_students


def _one(name: str, by_name: dict[str, list["Student"]]) -> "Student":
    matches = by_name.get(name, [])
    if len(matches) == 1:
        return matches[0]
    if matches:
        fitting = ", ".join(student.name for student in matches)
        why = f", which fits {fitting}; expected the first column of grades.csv, an id or an e-mail"
    else:
        close = difflib.get_close_matches(name, list(by_name), n=1, cutoff=0.5)
        hint = f"; is it {close[0]!r}?" if close else ""
        why = f"; expected one of grades.csv's first column or of the roster{hint}"
    raise ValueError(f"student is {name!r}{why}")


def _group(override: Override, name: str, by_group: dict[str, list["Student"]]) -> list["Student"]:
    if override.exercise or override.points is not None:
        raise ValueError(
            f"{override.student!r} is a group; expected a due for a lesson, and points for single students"
        )
    if name not in by_group:
        known = ", ".join(sorted(by_group)) or "none: it needs a column called group"
        raise ValueError(f"student is {override.student!r}; expected a group of the roster ({known}), or a student")
    return by_group[name]
