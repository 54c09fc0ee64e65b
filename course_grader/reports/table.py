"""``grades.csv``: a row a student, points and status of every exercise; ``review.csv``: a row for each thing to be looked at."""

from collections.abc import Iterator

from ..names import counted
from .csv_files import written
from .gradebook import Gradebook, Student, Work
from .lateness import describe_due


def table(book: Gradebook) -> str:
    """The class as CSV.

    The word after an exercise's number keeps spreadsheets from making one number of 5.1 and 5.10.
    """
    with_roster, due = book.settings.roster is not None, book.settings.deadlines
    header = ["student", *(["id", "e-mail", "name"] if with_roster else [])]
    for lesson, worth in book.lessons.items():
        header += [f"{number} {column}" for number in worth for column in ("points", "status")]
        header += [f"lesson {lesson}", *([f"lesson {lesson} before late"] if lesson in due else [])]
    best = sum(book.worth(lesson) for lesson in book.lessons)
    rows = [[*header, "total", "of", "late", "as the solution", "review", "notes"]]
    for student in book.students:
        person, row = student.person, [student.name]
        if with_roster:
            row += [person.id, person.email, person.name] if person else ["", "", ""]
        for lesson in book.lessons:
            work = student.work[lesson]
            row += [value for mark in work.marks.values() for value in (mark.earned, mark.status)]
            sums = [work.points, *([work.earned] if lesson in due else [])]
            row += sums if work.is_there else [None] * len(sums)
        late = "; ".join(text for lesson in book.lessons if (text := lateness(lesson, student.work[lesson])))
        equal, of = student.equal_to_solution
        row += [student.total, best, late, f"{equal} of {of}" if of else ""]
        rows.append([*row, "yes" if student.review else "", "; ".join([*student.notes, *by_hand(student)])])
    return written(rows)


def lateness(lesson: str, work: Work) -> str:
    """How late a student's work was, and what that cost; empty where it was in time."""
    if not work.days:
        return ""
    late = f"lesson {lesson}: {counted(work.days, 'day')}"
    if work.decided:
        return f"{late}, points set by hand"
    return f"{late}, {work.points:g} of {work.earned:g} points kept" if work.points != work.earned else late


def by_hand(student: Student) -> Iterator[str]:
    """What the instructor decided on a student, and wrote."""
    for lesson, work in student.work.items():
        points = f"{work.points:g} points by hand instead of {work.earned:g}" if work.decided else ""
        due = f"due {describe_due(work.due.due)}" if work.due and work.extended else ""
        decided = [(f"lesson {lesson}", points, due, work.comment)]
        for number, mark in work.marks.items():
            points = "" if mark.before is None else f"{mark.earned:g} points by hand instead of {mark.before:g}"
            decided.append((number, points, mark.comment))
        yield from (f"{what}: {'. '.join(said)}" for what, *parts in decided if (said := list(filter(None, parts))))


def review(book: Gradebook) -> str:
    """Everything to be looked at, a row for each reason."""
    rows = [["student", "file", "lesson", "reason"]]
    for student in book.students:
        rows += [[student.name, entry.label, entry.lesson, reason] for entry, reason in student.review]
    return written(rows)
