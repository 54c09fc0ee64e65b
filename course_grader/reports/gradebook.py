"""Everyone's points: results, deadlines and what an instructor decided by hand, put together. All reports are made of it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from course_checks.catalogue import catalogue

from ..outcomes import NOTHING, words
from ..submissions.submission_log import LogEntry
from .class_settings import ClassSettings, Deadline
from .lateness import days_late
from .overrides import Override, decided_for
from .results_folder import StoredResults
from .roster import Person, Roster


@dataclass
class Mark:
    """One exercise of one student."""

    earned: float | None = None  # what counts, before lateness; None where nothing was graded
    status: str = NOTHING  # as ``outcomes.Words.status``
    outcome: str = ""  # as the result says
    mistake: str | None = None  # what the answer was seen to do, by name
    form: str = ""  # of the answer, as ``submissions.normal_form`` tells
    own_nodes: int = 0  # how much of the answer was not handed out
    equal_to_solution: bool | None = None  # None where that would say nothing
    before: float | None = None  # what the grader gave, where an instructor decided otherwise
    comment: str = ""  # the instructor's

    @classmethod
    def of(cls, exercise: dict) -> "Mark":
        """As a result has it, perhaps one of an earlier version."""
        outcome = exercise["outcome"]
        names = ("mistake", "form", "own_nodes", "equal_to_solution")
        kept = {name: exercise[name] for name in names if name in exercise}
        return cls(exercise["earned"], words(outcome).status, outcome, **kept)


@dataclass
class Work:
    """One lesson of one student."""

    entry: LogEntry | None = None  # the file that counts; None where there is none
    marks: dict[str, Mark] = field(default_factory=dict)  # by exercise
    earned: float = 0.0  # the sum, before anything is taken off
    points: float = 0.0  # what counts in the end
    due: Deadline | None = None  # of this student
    extended: bool = False  # that deadline is the student's own, or the group's
    days: int | None = None  # begun days late; None where there is no deadline, or no date that can be true
    decided: bool = False  # the instructor set the points of the whole lesson
    comment: str = ""  # the instructor's, on the lesson

    @property
    def is_there(self) -> bool:
        """Whether anything was graded or decided."""
        return self.entry is not None or self.decided or any(mark.earned is not None for mark in self.marks.values())


@dataclass
class Student:
    """One student of the class."""

    name: str  # as the folder is called; of the roster where there is none
    person: Person | None = None  # who that is on the roster
    files: list[LogEntry] = field(default_factory=list)
    work: dict[str, Work] = field(default_factory=dict)  # by lesson; every lesson of the class
    notes: list[str] = field(default_factory=list)  # for the instructor
    review: list[tuple[LogEntry, str]] = field(default_factory=list)  # files that should be looked at, and why
    unreadable: set[str] = field(default_factory=set)  # lessons of files that were not graded; "" for one of no lesson

    @property
    def total(self) -> float | None:
        """All points that count; None where nothing was graded."""
        points = [work.points for work in self.work.values() if work.is_there]
        return sum(points) if points else None

    @property
    def equal_to_solution(self) -> tuple[int, int]:
        """How many answers are equal to the course's solution, of how many of which that says something."""
        marks = [mark for work in self.work.values() for mark in work.marks.values()]
        told = [mark.equal_to_solution for mark in marks if mark.equal_to_solution is not None]
        return sum(told), len(told)


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
    results: StoredResults, entries: Iterable[LogEntry], settings: ClassSettings, overrides: Sequence[Override]
) -> Gradebook:
    """Put everything together. Results are read one at a time."""
    lessons: dict[str, dict[str, float]] = {}
    students = class_of(entries, settings)
    for student in students:
        for entry in student.files:
            _add_file(student, entry, results, lessons)
    for override in overrides:
        all_of_it = {number: e.points for number, e in catalogue().items() if f"{e.lesson:02d}" == override.lesson}
        worth = lessons.setdefault(override.lesson, all_of_it)
        if override.exercise:
            worth.setdefault(override.exercise, all_of_it[override.exercise])
    for override, student in decided_for(overrides, students, results.folder):
        _apply(student, override)
    for lesson, worth in sorted(lessons.items()):
        lessons[lesson] = {number: worth[number] for number in sorted(worth, key=lambda n: [*map(int, n.split("."))])}
    lessons = dict(sorted(lessons.items()))
    for student in students:
        for lesson, worth in lessons.items():
            work = student.work.setdefault(lesson, Work())
            lost = work.entry is None and student.unreadable & {"", lesson}
            nothing = words("unreadable").status if lost else NOTHING
            work.marks = {number: work.marks.get(number, Mark(status=nothing)) for number in worth}
            _sum_up(student, lesson, work, settings.deadlines.get(lesson))
    return Gradebook(lessons, students, settings)


def class_of(entries: Iterable[LogEntry], settings: ClassSettings) -> list[Student]:
    """Every student with all files, nothing graded yet: those of the roster first, also who handed in nothing."""
    folders: dict[str, list[LogEntry]] = defaultdict(list)
    for entry in entries:
        folders[entry.student].append(entry)
    roster = Roster(settings.roster or ())
    of_person: dict[Person, list[str]] = defaultdict(list)
    others = []
    for folder in sorted(folders):
        person, why = roster.find(folder) if settings.roster is not None else (None, "")
        if person is not None:
            of_person[person].append(folder)
        else:
            others.append(Student(folder, files=folders[folder], notes=[why] if why else []))
    students = []
    for person in settings.roster or ():
        mine = of_person[person]
        student = Student(mine[0] if mine else str(person), person, [file for name in mine for file in folders[name]])
        if len(mine) != 1:
            student.notes.append(f"handed in as {', '.join(mine)}" if mine else NOTHING)
        students.append(student)
    return students + others


def _add_file(student: Student, entry: LogEntry, results: StoredResults, lessons: dict[str, dict[str, float]]) -> None:
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
    student.review += [(entry, text) for text in reasons]
    if entry.label and problem:
        student.unreadable.add(entry.lesson)
    if entry.counts and result is None:
        student.notes.append(f"{name}: not graded yet")
    if not entry.counts or result is None or problem or not entry.lesson:
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
        work.marks[exercise["number"]] = Mark.of(exercise)
    student.notes += [f"lesson {entry.lesson}: {line}" for line in (*result["restored"], *result["events"])]


def _apply(student: Student, override: Override) -> None:
    """Apply what is decided on an exercise; the rest waits for the sum."""
    work = student.work.setdefault(override.lesson, Work())
    if override.exercise:
        mark = work.marks.setdefault(override.exercise, Mark())
        mark.comment = override.comment
        if override.points is not None:
            mark.before, mark.earned = mark.earned or 0.0, override.points
            mark.status = f"by hand (was {mark.status})"
        return
    work.comment = override.comment or work.comment
    if override.points is not None:
        work.decided, work.points = True, override.points
    if override.due is not None:
        work.due, work.extended = Deadline(override.due), True


def _sum_up(student: Student, lesson: str, work: Work, deadline: Deadline | None) -> None:
    work.earned = sum(mark.earned or 0.0 for mark in work.marks.values())
    policy = deadline.policy if deadline else None
    work.due = Deadline(work.due.due, policy) if work.due else deadline
    if work.due is not None and work.entry is not None:
        work.days = days_late(work.due.due, work.entry.modified)
        if work.days is None:
            student.notes.append(f"lesson {lesson}: the file has no date that can be true; lateness was not judged")
    if not work.decided:
        work.points = policy.kept(work.earned, work.days) if policy and work.days else work.earned
