"""Everyone's points: results, deadlines and what an instructor decided by hand, put together. All reports are made of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from course_checks.catalogue import catalogue

from ..submissions.submission_log import LogEntry
from .class_settings import ClassSettings, Deadline
from .lateness import days_late
from .outcomes import NOTHING, UNREADABLE, words
from .overrides import Override, names, not_one_student
from .results_folder import StoredResults
from .roster import Person, Roster


@dataclass
class Mark:
    """One exercise of one student."""

    earned: float | None = None  # what counts, before lateness; None where nothing was graded
    status: str = NOTHING  # as ``outcomes.Words.status``
    outcome: str = ""  # as the result says
    before: float | None = None  # what the grader gave, where an instructor decided otherwise
    comment: str = ""  # the instructor's


@dataclass
class Work:
    """One lesson of one student."""

    entry: LogEntry | None = None  # the file that counts; None where there is none
    marks: dict[str, Mark] = field(default_factory=dict)  # by exercise
    earned: float = 0.0  # the sum, before anything is taken off
    points: float = 0.0  # what counts in the end
    due: Deadline | None = None  # of this student
    days: int | None = None  # begun days late; None where there is no deadline, or no date that can be true
    decided: bool = False  # the instructor set the points of the whole lesson
    comment: str = ""  # the instructor's, on the lesson

    @property
    def is_there(self) -> bool:
        """Whether anything was graded or decided."""
        return self.entry is not None or self.decided or any(mark.earned is not None for mark in self.marks.values())


@dataclass(frozen=True)
class Reason:
    """One thing that someone should look at."""

    entry: LogEntry
    text: str


@dataclass
class Student:
    """One student of the class."""

    name: str  # as the folder is called; of the roster where there is none
    person: Person | None = None  # who that is on the roster
    work: dict[str, Work] = field(default_factory=dict)  # by lesson; every lesson of the class
    notes: list[str] = field(default_factory=list)  # for the instructor
    review: list[Reason] = field(default_factory=list)  # what should be looked at
    handed_in: bool = False  # whether there is any file
    unreadable: set[str] = field(default_factory=set)  # lessons of files that were not graded; "" for one of no lesson

    @property
    def total(self) -> float | None:
        """All points that count; None where nothing was graded."""
        points = [work.points for work in self.work.values() if work.is_there]
        return sum(points) if points else None


@dataclass(frozen=True)
class Gradebook:
    """The class."""

    lessons: dict[str, dict[str, float]]  # lesson -> exercise -> what it is worth
    students: list[Student]  # in the order of the roster, then by name
    settings: ClassSettings

    def worth(self, lesson: str) -> float:
        """All points of a lesson."""
        return sum(self.lessons[lesson].values())


def make_gradebook(
    results: StoredResults, entries: Iterable[LogEntry], settings: ClassSettings, overrides: Iterable[Override]
) -> Gradebook:
    """Put everything together. Results are read one at a time.

    Raises:
        ValueError: An override is about a student whom nobody knows.
    """
    overrides, lessons = list(overrides), {}
    rows = _rows(entries, settings)
    for student, files in rows:
        for entry in files:
            _add_file(student, entry, results, lessons)
    for override in overrides:
        all_of_it = {number: e.points for number, e in catalogue().items() if f"{e.lesson:02d}" == override.lesson}
        worth = lessons.setdefault(override.lesson, all_of_it)
        if override.exercise:
            worth.setdefault(override.exercise, all_of_it[override.exercise])
    for student, override in zip(_overridden(overrides, rows, results.folder), overrides, strict=True):
        _apply(student, override)
    lessons = {lesson: dict(sorted(lessons[lesson].items(), key=_order)) for lesson in sorted(lessons)}
    for student, _ in rows:
        for lesson, worth in lessons.items():
            work = student.work.setdefault(lesson, Work())
            lost = work.entry is None and student.unreadable & {"", lesson}
            nothing = UNREADABLE if lost else NOTHING
            work.marks = {number: work.marks.get(number, Mark(status=nothing)) for number in worth}
            _sum_up(student, lesson, work, settings.deadlines.get(lesson))
    return Gradebook(lessons, [student for student, _ in rows], settings)


def check_names(
    entries: Iterable[LogEntry], settings: ClassSettings, overrides: Iterable[Override], folder: Path
) -> None:
    """See that every override is about one student of the class.

    Raises:
        ValueError: It is about nobody, or about several.
    """
    _overridden(overrides, _rows(entries, settings), folder)


def _order(item: tuple[str, float]) -> list[int]:
    return [int(part) for part in item[0].split(".")]


def _rows(entries: Iterable[LogEntry], settings: ClassSettings) -> list[tuple[Student, list[LogEntry]]]:
    """A row a student with all files: those of the roster first, also who handed in nothing."""
    folders: dict[str, list[LogEntry]] = {}
    for entry in entries:
        folders.setdefault(entry.student, []).append(entry)
    roster = Roster(settings.roster or ())
    of_person: dict[Person, list[str]] = {}
    others: list[tuple[Student, list[LogEntry]]] = []
    for folder in sorted(folders):
        person, why = roster.find(folder) if settings.roster is not None else (None, "")
        if person is not None:
            of_person.setdefault(person, []).append(folder)
        else:
            others.append((Student(folder, notes=[why] if why else [], handed_in=True), folders[folder]))
    rows = []
    for person in settings.roster or ():
        mine = of_person.get(person, [])
        student = Student(mine[0] if mine else str(person), person, handed_in=bool(mine))
        if len(mine) > 1:
            student.notes.append(f"handed in as {', '.join(mine)}")
        if not mine:
            student.notes.append(NOTHING)
        rows.append((student, [entry for folder in mine for entry in folders[folder]]))
    return rows + others


def _add_file(student: Student, entry: LogEntry, results: StoredResults, lessons: dict[str, dict[str, float]]) -> None:
    """Add what is known of one file."""
    name = entry.label or "no file"
    result = results.result(*entry.result)
    problem = result["problem"] if result is not None else ""
    review = result is not None and result["review"]
    if entry.note:
        student.notes.append(f"{name}: {entry.note}")
    if problem and problem != entry.note:
        student.notes.append(f"{name}: {problem}")
    reasons = result["noticed"] if review else []
    if not reasons and (entry.review or review):
        reasons = [entry.note or problem or "see the result"]
    student.review += [Reason(entry, text) for text in reasons]
    if entry.label and problem:
        student.unreadable.add(entry.lesson)
    if not entry.counts:
        return
    if result is None:
        student.notes.append(f"{name}: not graded yet")
        return
    if problem or not entry.lesson:
        return
    work = student.work.setdefault(entry.lesson, Work())
    if work.entry is not None:  # one student in two folders
        older, newer = sorted((work.entry, entry), key=lambda file: (file.modified, file.label))
        student.notes.append(f"lesson {entry.lesson}: {newer.label} counts, since it is newer than {older.label}")
        if older == entry:
            return
    work.entry = entry
    worth = lessons.setdefault(entry.lesson, {})
    for exercise in result["exercises"]:
        worth[exercise["number"]] = exercise["points"]
        outcome = exercise["outcome"]
        work.marks[exercise["number"]] = Mark(exercise["earned"], words(outcome).status, outcome)
    student.notes += [f"lesson {entry.lesson}: {line}" for line in (*result["restored"], *result["events"])]


def _by_name(rows: list[tuple[Student, list[LogEntry]]]) -> dict[str, list[Student]]:
    """Everything that a student may be called in the overrides."""
    students: dict[str, list[Student]] = {}
    for student, entries in rows:
        known = {student.name, *(entry.student for entry in entries)}
        if student.person:
            known |= {student.person.id, student.person.email, student.person.user, student.person.name} - {""}
        for written in {written for name in known for written in names(name)}:
            students.setdefault(written, []).append(student)
    return students


def _overridden(
    overrides: Iterable[Override], rows: list[tuple[Student, list[LogEntry]]], folder: Path
) -> list[Student]:
    """The student of each row of the overrides."""
    by_name, students = _by_name(rows), []
    for override in overrides:
        matches = by_name.get(override.student, [])
        if len(matches) != 1:
            raise not_one_student(override, folder, [student.name for student in matches], by_name)
        students += matches
    return students


def _apply(student: Student, override: Override) -> None:
    """Apply what is decided on an exercise; the rest waits for the sum."""
    work = student.work.setdefault(override.lesson, Work())
    if override.exercise:
        mark = work.marks.setdefault(override.exercise, Mark())
        mark.comment = override.comment
        if override.points is not None:
            mark.before, mark.earned = mark.earned or 0.0, override.points
            mark.status = f"by hand (was {mark.status})"
    else:
        work.comment = override.comment
        work.decided = override.points is not None
        work.points = override.points or 0.0
        if override.due is not None:
            work.due = Deadline(override.due)


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
