"""``grades.csv``: a row a student, points and status of every exercise; ``review.csv``: a row for each thing to be looked at."""

from .csv_files import written
from .gradebook import Gradebook, Student, Work


def table(book: Gradebook) -> str:
    """The class as CSV.

    The word after an exercise's number keeps spreadsheets from making one number of 5.1 and 5.10.
    """
    who = ["student", *(["id", "e-mail", "name"] if book.settings.roster is not None else [])]
    header = list(who)
    for lesson, worth in book.lessons.items():
        for number in worth:
            header += [f"{number} points", f"{number} status"]
        header += [
            f"lesson {lesson}",
            *([f"lesson {lesson} before late"] if lesson in book.settings.deadlines else []),
        ]
    best = sum(book.worth(lesson) for lesson in book.lessons)
    rows = [[*header, "total", "of", "late", "review", "notes"]]
    for student in book.students:
        person = student.person
        row: list[object] = [student.name]
        if book.settings.roster is not None:
            row += [person.id, person.email, person.name] if person else ["", "", ""]
        for lesson in book.lessons:
            work = student.work[lesson]
            for mark in work.marks.values():
                row += [mark.earned, mark.status]
            sums = [work.points, *([work.earned] if lesson in book.settings.deadlines else [])]
            row += sums if work.is_there else [None] * len(sums)
        late = "; ".join(text for lesson in book.lessons if (text := lateness(lesson, student.work[lesson])))
        review = "yes" if student.review else ""
        rows.append([*row, student.total, best, late, review, "; ".join(notes(student))])
    return written(rows)


def lateness(lesson: str, work: Work) -> str:
    """How late a student's work was, and what that cost; empty where it was in time."""
    if not work.days:
        return ""
    days = f"lesson {lesson}: {work.days} {'day' if work.days == 1 else 'days'}"
    if work.decided:
        return f"{days}, points set by hand"
    return f"{days}, {work.points:g} of {work.earned:g} points kept" if work.points != work.earned else days


def notes(student: Student) -> list[str]:
    """Everything that an instructor is told of a student, decisions by hand included."""
    lines = list(student.notes)
    for lesson, work in student.work.items():
        if work.decided:
            lines.append(f"lesson {lesson}: {work.points:g} points by hand instead of {work.earned:g}")
        for number, mark in work.marks.items():
            if mark.before is not None:
                lines.append(f"{number}: {mark.earned:g} points by hand instead of {mark.before:g}")
    return lines


def review(book: Gradebook) -> str:
    """Everything to be looked at, a row for each reason."""
    rows = [["student", "file", "lesson", "reason"]]
    for student in book.students:
        rows += [[student.name, reason.entry.label, reason.entry.lesson, reason.text] for reason in student.review]
    return written(rows)
