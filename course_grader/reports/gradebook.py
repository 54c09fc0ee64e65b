"""Everyone's points: results, deadlines and what an instructor decided by hand, put together. All reports are made of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from course_checks.catalogue import catalogue

from ..submissions.record import Entry
from .class_record import ClassRecord, Deadline
from .lateness import days_late
from .outcomes import NOTHING, UNREADABLE, words
from .overrides import Override, names, nobody
from .results_folder import StoredResults
from .roster import Person, Roster


@dataclass
class Mark:
    """One exercise of one student.

    Args:
        earned: What counts, before anything is taken off for lateness; None where nothing was graded.
        status: As ``outcomes.Words.status``.
        outcome: As the result says.
        mistake: What the answer was seen to do, by name.
        before: What the grader gave, where an instructor decided otherwise.
        comment: The instructor's.
    """

    earned: float | None = None
    status: str = NOTHING
    outcome: str = ""
    mistake: str | None = None
    before: float | None = None
    comment: str = ""


@dataclass
class Work:
    """One lesson of one student.

    Args:
        entry: The file that counts; None where there is none.
        marks: By exercise.
        earned: The sum, before anything is taken off.
        points: What counts in the end.
        due: The deadline and the policy of this student.
        days: Begun days late; None where there is no deadline, or no date that can be true.
        decided: The instructor set the points of the whole lesson.
        comment: The instructor's, on the lesson.
    """

    entry: Entry | None = None
    marks: dict[str, Mark] = field(default_factory=dict)
    earned: float = 0.0
    points: float = 0.0
    due: Deadline | None = None
    days: int | None = None
    decided: bool = False
    comment: str = ""

    @property
    def is_there(self) -> bool:
        """Whether anything was graded or decided."""
        return self.entry is not None or self.decided or any(mark.earned is not None for mark in self.marks.values())


@dataclass(frozen=True)
class Reason:
    """One thing that someone should look at."""

    student: str
    entry: Entry
    text: str


@dataclass
class Student:
    """One student of the class.

    Args:
        name: As the folder is called; of the roster where there is none.
        person: Who that is on the roster.
        work: By lesson; every lesson of the class.
        notes: For the instructor.
        review: What should be looked at.
        handed_in: Whether there is any file.
        unreadable: Lessons of files that could not be graded; empty for one that nobody could tell.
    """

    name: str
    person: Person | None = None
    work: dict[str, Work] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    review: list[Reason] = field(default_factory=list)
    handed_in: bool = False
    unreadable: set[str] = field(default_factory=set)

    @property
    def total(self) -> float:
        """All points that count."""
        return sum(work.points for work in self.work.values())


@dataclass(frozen=True)
class Gradebook:
    """The class.

    Args:
        lessons: Lesson -> exercise -> what it is worth.
        students: In the order of the roster, then by name.
        record: Deadlines and roster.
    """

    lessons: dict[str, dict[str, float]]
    students: list[Student]
    record: ClassRecord

    def worth(self, lesson: str) -> float:
        """All points of a lesson."""
        return sum(self.lessons[lesson].values())


def make(
    results: StoredResults, entries: Iterable[Entry], record: ClassRecord, overrides: Iterable[Override]
) -> Gradebook:
    """Put everything together. Results are read one at a time.

    Raises:
        ValueError: An override is about a student whom nobody knows.
    """
    overrides, lessons = list(overrides), {}
    rows = _rows(entries, record)
    for student, mine in rows:
        for entry in mine:
            _take(student, entry, results, lessons)
    for one in overrides:
        all_of_it = {number: e.points for number, e in catalogue().items() if f"{e.lesson:02d}" == one.lesson}
        worth = lessons.setdefault(one.lesson, all_of_it)
        if one.exercise:
            worth.setdefault(one.exercise, all_of_it[one.exercise])
    for student, one in zip(_whose(overrides, rows, results.folder), overrides, strict=True):
        _decide(student, one)
    lessons = {lesson: dict(sorted(lessons[lesson].items(), key=_order)) for lesson in sorted(lessons)}
    for student, _ in rows:
        for lesson, worth in lessons.items():
            work = student.work.setdefault(lesson, Work())
            lost = work.entry is None and student.unreadable & {"", lesson}
            nothing = UNREADABLE if lost else NOTHING
            work.marks = {number: work.marks.get(number, Mark(status=nothing)) for number in worth}
            _sum_up(student, lesson, work, record.deadlines.get(lesson))
    return Gradebook(lessons, [student for student, _ in rows], record)


def check_names(entries: Iterable[Entry], record: ClassRecord, overrides: Iterable[Override], folder: Path) -> None:
    """See that every override is about one student of the class.

    Raises:
        ValueError: It is about nobody, or about several.
    """
    _whose(list(overrides), _rows(entries, record), folder)


def _order(item: tuple[str, float]) -> list[int]:
    return [int(part) for part in item[0].split(".")]


def _rows(entries: Iterable[Entry], record: ClassRecord) -> list[tuple[Student, list[Entry]]]:
    """A row a student with all files: those of the roster first, also who handed in nothing."""
    folders: dict[str, list[Entry]] = {}
    for entry in entries:
        folders.setdefault(entry.student, []).append(entry)
    roster = Roster(record.roster or ())
    of_person: dict[Person, list[str]] = {}
    others: list[tuple[Student, list[Entry]]] = []
    for folder in sorted(folders):
        person, why = roster.find(folder) if record.roster is not None else (None, "")
        if person is not None:
            of_person.setdefault(person, []).append(folder)
        else:
            others.append((Student(folder, notes=[why] if why else [], handed_in=True), folders[folder]))
    rows = []
    for person in record.roster or ():
        mine = of_person.get(person, [])
        student = Student(mine[0] if mine else str(person), person, handed_in=bool(mine))
        if len(mine) > 1:
            student.notes.append(f"handed in as {', '.join(mine)}")
        if not mine:
            student.notes.append(NOTHING)
        rows.append((student, [entry for folder in mine for entry in folders[folder]]))
    return rows + others


def _take(student: Student, entry: Entry, results: StoredResults, lessons: dict[str, dict[str, float]]) -> None:
    """Add what is known of one file."""
    name = entry.label or "no file"
    result = results.result(*entry.result)
    if entry.note:
        student.notes.append(f"{name}: {entry.note}")
    if result is not None and result["problem"] and result["problem"] != entry.note:
        student.notes.append(f"{name}: {result['problem']}")
    reasons = result["noticed"] if result is not None and result["review"] else []
    if not reasons and (entry.review or (result is not None and result["review"])):
        reasons = [entry.note or (result or {}).get("problem") or "see the result"]
    student.review += [Reason(student.name, entry, text) for text in reasons]
    if entry.label and result is not None and result["problem"]:
        student.unreadable.add(entry.lesson)
    if not entry.counts:
        return
    if result is None:
        student.notes.append(f"{name}: not graded yet")
        return
    if result["problem"] or not entry.lesson:
        return
    work = student.work.setdefault(entry.lesson, Work())
    if work.entry is not None:  # one student in two folders
        older, newer = sorted((work.entry, entry), key=lambda one: (one.modified, one.label))
        student.notes.append(f"lesson {entry.lesson}: {newer.label} counts, since it is newer than {older.label}")
        if older == entry:
            return
    work.entry = entry
    worth = lessons.setdefault(entry.lesson, {})
    for one in result["exercises"]:
        worth[one["number"]] = one["points"]
        status = words(one["outcome"]).status
        work.marks[one["number"]] = Mark(one["earned"], status, one["outcome"], one.get("mistake"))
    student.notes += [f"lesson {entry.lesson}: {line}" for line in (*result["restored"], *result["events"])]


def _by_name(rows: list[tuple[Student, list[Entry]]]) -> dict[str, list[Student]]:
    """Everything that a student may be called in the overrides."""
    found: dict[str, list[Student]] = {}
    for student, entries in rows:
        known = {student.name, *(entry.student for entry in entries)}
        if student.person:
            known |= {student.person.id, student.person.email, student.person.user, student.person.name} - {""}
        for name in {shown for one in known for shown in names(one)}:
            found.setdefault(name, []).append(student)
    return found


def _whose(overrides: list[Override], rows: list[tuple[Student, list[Entry]]], folder: Path) -> list[Student]:
    """The student of each row of the overrides."""
    by_name, students = _by_name(rows), []
    for one in overrides:
        found = by_name.get(one.student, [])
        if len(found) != 1:
            raise nobody(one, folder, by_name) if not found else _several(one, folder, found)
        students += found
    return students


def _several(override: Override, folder: Path, found: list[Student]) -> ValueError:
    who = ", ".join(student.name for student in found)
    return ValueError(
        f"overrides ({folder / 'overrides.csv'}), line {override.line}: student is {override.student!r}, "
        f"which fits {who}; expected the first column of grades.csv, an id or an e-mail"
    )


def _decide(student: Student, one: Override) -> None:
    """Apply what is decided on an exercise; the rest waits for the sum."""
    work = student.work.setdefault(one.lesson, Work())
    if one.exercise:
        mark = work.marks.setdefault(one.exercise, Mark())
        mark.comment = one.comment
        if one.points is not None:
            mark.before, mark.earned = mark.earned or 0.0, one.points
            mark.status = f"by hand (was {mark.status})"
    else:
        work.comment = one.comment
        work.decided = one.points is not None
        work.points = one.points or 0.0
        if one.due is not None:
            work.due = Deadline(one.due)


def _sum_up(student: Student, lesson: str, work: Work, deadline: Deadline | None) -> None:
    """What counts in the end."""
    work.earned = sum(mark.earned or 0.0 for mark in work.marks.values())
    if work.due is not None:
        work.due = Deadline(work.due.due, deadline.policy if deadline else None)
    else:
        work.due = deadline
    if work.due is not None and work.entry is not None:
        work.days = days_late(work.due.due, work.entry.modified)
        if work.days is None:
            student.notes.append(f"lesson {lesson}: the file has no date that can be true; lateness was not judged")
    if work.decided:
        return
    policy = work.due.policy if work.due else None
    work.points = policy.kept(work.earned, work.days) if policy and work.days else work.earned
