"""Which of a student's files counts for which lesson, decided by what is in them before their dates."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..bounded import SECONDS, LimitExceeded, bounded
from ..master import Master
from .belonging import PAGE, STUDENTS, is_solution_as_built, is_untouched, kind_of, lesson_of
from .notebook import Unreadable, parse
from .submission import Submission, read

STUDENT_S = 20.0  # to read all files of one student
OF_THE_COURSE = "it is the course's own, not the student's work"
PAGE_ONLY = "it is the page of a lesson, not its exercises"
AS_BUILT = "it is the course's own solution notebook, answer for answer; it was not graded"


@dataclass(frozen=True)
class Look:
    """What one file is.

    Args:
        lesson: That it belongs to; empty for none.
        kind: As ``belonging.kind_of`` tells.
        as_built: It is the course's solution without a change.
        untouched: It is what was handed out, without an answer.
    """

    lesson: str
    kind: str
    as_built: bool = False
    untouched: bool = False


@dataclass(frozen=True)
class Choice:
    """What becomes of one file.

    Args:
        submission: The file.
        lesson: That it belongs to; empty for none, or where nobody could tell.
        counts: It is the one that is graded for this lesson.
        note: For the student's row: why it is not, or what stands beside it.
        problem: The note is a reason that a student must be told.
        review: Someone should look at it.
    """

    submission: Submission
    lesson: str = ""
    counts: bool = False
    note: str = ""
    problem: bool = False
    review: bool = False


def look(submission: Submission, most_mb: float, masters: dict[str, Master]) -> Look:
    """Read one file, and say what it is. JSON from strangers can take long: call it through ``bounded``.

    Raises:
        Unreadable: It is no notebook.
    """
    cells, metadata = parse(read(submission, most_mb))
    lesson, kind = lesson_of(cells, metadata, submission.label, masters), kind_of(metadata, submission.label)
    if lesson is None:
        return Look("", kind)
    master = masters[lesson]
    return Look(lesson, kind, is_solution_as_built(cells, metadata, master), is_untouched(cells, master))


def choose(
    submissions: Iterable[Submission],
    masters: dict[str, Master],
    graded: Iterable[str],
    most_mb: float,
    seen: Callable[[], object] = lambda: None,
) -> list[Choice]:
    """Say for every file whether it counts, and why not.

    For each lesson one file of a student counts: one that is a student's work before one that is the course's, one with answers
    before what was handed out, and then the newest.

    Args:
        submissions: Every file of every student.
        masters: All lessons of the course.
        graded: The lessons that are graded.
        most_mb: MiB of one file.
        seen: Called for every file that was looked at.
    """
    by_student: dict[str, list[Submission]] = {}
    for submission in submissions:
        by_student.setdefault(submission.student, []).append(submission)
    chosen, graded = [], frozenset(graded)
    for mine in by_student.values():
        chosen += _of_student(_looks(mine, masters, most_mb, seen), graded)
    return chosen


def _looks(
    submissions: list[Submission], masters: dict[str, Master], most_mb: float, seen: Callable[[], object]
) -> Iterator[tuple[Submission, Look | Choice]]:
    """Each file with what it is, or with what becomes of it since nobody can tell."""
    end = time.monotonic() + STUDENT_S
    for submission in submissions:
        left = end - time.monotonic()
        if submission.problem:
            found = Choice(submission, note=submission.problem, problem=True)
        elif left <= 0:
            note = f"it was not read: this student's other files took more than {STUDENT_S:g} s"
            found = Choice(submission, note=note, problem=True, review=True)
        else:
            try:
                found = bounded(look, submission, most_mb, masters, seconds=min(left, SECONDS))
            except Unreadable as problem:
                found = Choice(submission, note=str(problem), problem=True)
            except LimitExceeded as problem:
                found = Choice(submission, note=str(problem), problem=True, review=True)
            except Exception as problem:
                note = f"could not be graded: {type(problem).__name__}: {problem}"
                found = Choice(submission, note=note, problem=True, review=True)
        seen()
        yield submission, found


def _of_student(looks: Iterable[tuple[Submission, Look | Choice]], graded: frozenset[str]) -> list[Choice]:
    choices, works, pages = [], {}, []
    for submission, found in looks:
        if isinstance(found, Choice):
            choices.append(found)
        elif found.kind == PAGE and not found.lesson:
            pages.append(submission)
        else:
            works.setdefault(found.lesson, []).append((submission, found))
    course, counting = list(pages), 0
    for lesson, files in works.items():
        if lesson not in graded:
            note = f"it belongs to lesson {lesson}, which is not graded here" if lesson else "it belongs to no lesson"
            choices += [Choice(one, lesson, note=note, problem=not lesson) for one, _ in files]
            continue
        own = [(one, found) for one, found in files if found.kind == STUDENTS]
        if own:
            course += [one for one, found in files if found.kind != STUDENTS]
        best, *others = sorted(own or files, key=_rank, reverse=True)
        if best[1].as_built:
            choices.append(Choice(best[0], lesson, note=AS_BUILT, problem=True, review=True))
        else:
            counting += 1
            choices.append(Choice(best[0], lesson, counts=True))
        note = f"not graded, since {best[0].label} counts for lesson {lesson}"
        choices += [Choice(one, lesson, note=note) for one, _ in others]
    if course and not works and not any(choice.problem for choice in choices):
        choices.append(Choice(course.pop(0), note=PAGE_ONLY, problem=True))
    if course:
        more = f" ({len(course) - 1} more files are so too)" if len(course) > 1 else ""
        choices.append(Choice(course[0], note=OF_THE_COURSE + more))
    if counting:  # then what is beside the work is no loss that the student must be told
        choices = [_quiet(choice) for choice in choices if choice.counts or not _is_beside(choice, graded)]
    return choices


def _rank(of: tuple[Submission, Look]) -> tuple:
    submission, found = of
    return not found.as_built, not found.untouched, submission.modified, submission.label


def _is_beside(choice: Choice, graded: frozenset[str]) -> bool:
    """A file of a lesson that is not graded here."""
    return bool(choice.lesson) and choice.lesson not in graded


def _quiet(choice: Choice) -> Choice:
    no_file = choice.problem and choice.submission.path is None
    return Choice(choice.submission, choice.lesson, note=choice.note) if no_file else choice
