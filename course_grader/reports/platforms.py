"""The class's points in the form that a learning platform imports."""

from collections.abc import Callable
from datetime import UTC, datetime

from .csv_files import written
from .gradebook import Gradebook, Student
from .roster import CANVAS, MOODLE, Person


def canvas(book: Gradebook, lessons: list[str]) -> str:
    """A gradebook for Canvas: a column a lesson, and what each is worth in the second row.

    Canvas finds students by its own ID or by the SIS columns: take its exported gradebook as the roster.
    """
    rows: list[list[object]] = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]]
    rows[0] += [f"Lesson {lesson}" for lesson in lessons]
    rows.append(["    Points Possible", "", "", "", "", *(book.worth(lesson) for lesson in lessons)])
    for student in book.students:
        person = student.person or Person()
        name = f"{person.last}, {person.first}" if person.first else person.name
        number, sis = (person.id, person.sis) if person.sis or person.section else ("", person.id)
        who = [name or student.name, number, sis, person.user or person.email, person.section]
        rows.append([*who, *(_points(student, lesson) for lesson in lessons)])
    return written(rows, for_people=False)


def moodle(book: Gradebook, lessons: list[str]) -> str:
    """A grading worksheet for Moodle, of one lesson; its gradebook imports the same file.

    The number behind "Participant" is taken from the roster (Moodle's own worksheet), else from the name of the download.
    """
    if len(lessons) != 1:
        raise ValueError(f"--lesson (none) must be given: {', '.join(lessons)} are graded; a worksheet has one lesson")
    (lesson,) = lessons
    header = "Identifier,Full name,ID number,Email address,Grade,Maximum Grade,Last modified (grade),Feedback comments"
    rows: list[list[object]] = [header.split(",")]
    for student in book.students:
        person = student.person or Person()
        download = None if CANVAS.fullmatch(student.name) else MOODLE.fullmatch(student.name)
        number = person.participant or (download["participant"] if download else "")
        name = person.name or (download["name"] if download else student.name)
        work = student.work[lesson]
        comments = [work.comment] + [f"{n}: {mark.comment}" for n, mark in work.marks.items() if mark.comment]
        who = [f"Participant {number}" if number else "", name, person.id, person.email]
        rows.append([*who, _points(student, lesson), book.worth(lesson), "", "; ".join(filter(None, comments))])
    return written(rows, for_people=False)


def nbgrader(book: Gradebook, lessons: list[str]) -> str:
    """What ``nbgrader export`` writes: a row for each student and lesson; no points where nothing was graded."""
    header = ["assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"]
    rows: list[list[object]] = [[*header, "raw_score", "late_submission_penalty", "score", "max_score"]]
    for lesson in lessons:
        for student in book.students:
            work, known = student.work[lesson], student.person or Person()
            due = _moment(work.due.due.timestamp()) if work.due else ""
            handed_in = _moment(work.entry.modified) if work.entry and work.entry.modified else ""
            who = [known.id or known.user or student.name, known.last or known.name, known.first, known.email]
            raw = work.points if work.decided else work.earned
            points = [float(raw), float(raw - work.points), float(work.points)] if work.is_there else [None] * 3
            rows.append([f"lesson_{lesson}", due, handed_in, *who, *points, float(book.worth(lesson))])
    return written(rows, for_people=False)


def _points(student: Student, lesson: str) -> float | None:
    """Empty where nothing was graded: a platform keeps that apart from zero."""
    work = student.work[lesson]
    return work.points if work.is_there else None


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


FORMATS: dict[str, Callable[[Gradebook, list[str]], str]] = {"canvas": canvas, "moodle": moodle, "nbgrader": nbgrader}
