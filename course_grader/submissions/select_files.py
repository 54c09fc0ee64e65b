"""Which of a student's files counts for which lesson, decided by what is in them before their dates."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ..bounded import SECONDS, LimitExceeded, bounded
from ..released_notebook import ReleasedNotebook
from .identify import EXERCISE, LESSON, TOUR, is_unchanged_solution, is_untouched, kind_of, lesson_of
from .notebook import Unreadable, parse
from .submission import Submission, read
from .submission_log import LogEntry

STUDENT_S = 20.0  # to read all files of one student
OF_THE_COURSE = "it is the course's own, not the student's work"
PAGE_ONLY = "it is the page of a lesson, not its exercises"
UNCHANGED = "it is the course's own solution notebook, answer for answer; it was not graded"


@dataclass(frozen=True)
class FileContent:
    """What one file is."""

    lesson: str  # that it belongs to; empty for none
    kind: str  # as ``identify.kind_of`` tells
    unchanged_solution: bool = False  # the course's solution without a change
    untouched: bool = False  # what was handed out, without an answer


@dataclass(frozen=True)
class FileDecision:
    """What becomes of one file."""

    submission: Submission
    lesson: str = ""  # that it belongs to; empty for none, or where nobody could tell
    counts: bool = False  # it is the one that is graded for this lesson
    note: str = ""  # for the student's row: why it is not, or what stands beside it
    problem: bool = False  # the note is a reason that a student must be told
    review: bool = False  # someone should look at it

    def entry(self, graded: Iterable[str]) -> LogEntry:
        """As it is written down by a run that graded these lessons."""
        file, scope = self.submission, tuple(sorted(graded))
        known = {"note": self.note, "modified": file.modified, "review": self.review, "scope": scope}
        return LogEntry(file.student, file.label, self.lesson, self.counts, **known)


def inspect_file(submission: Submission, most_mb: float, releases: dict[str, ReleasedNotebook]) -> FileContent:
    """Read one file, and say what it is. JSON from strangers can take long: call it through ``bounded``."""
    cells, metadata = parse(read(submission, most_mb))
    lesson, kind = lesson_of(cells, releases), kind_of(metadata, submission.label)
    if lesson is None:
        return FileContent("", kind)
    released = releases[lesson]
    return FileContent(lesson, kind, is_unchanged_solution(cells, metadata, released), is_untouched(cells, released))


def select_files(
    submissions: Iterable[Submission],
    releases: dict[str, ReleasedNotebook],
    graded: Iterable[str],
    most_mb: float,
    progress: Callable[[], object] = lambda: None,
) -> list[FileDecision]:
    """Say for every file whether it counts, and why not.

    For each lesson one file of a student counts: one that is a student's work before one that is the course's, one with answers
    before what was handed out, and then the newest. ``progress`` is called for every file that was looked at.
    """
    by_student: dict[str, list[Submission]] = {}
    for submission in submissions:
        by_student.setdefault(submission.student, []).append(submission)
    decisions, graded = [], frozenset(graded)
    for files in by_student.values():
        decisions += _of_student(_inspected(files, releases, most_mb, progress), graded)
    return decisions


def _inspected(
    submissions: list[Submission], releases: dict[str, ReleasedNotebook], most_mb: float, progress: Callable[[], object]
) -> Iterator[tuple[Submission, FileContent | FileDecision]]:
    """Each file with what it is, or with what becomes of it since nobody can tell."""
    end = time.monotonic() + STUDENT_S
    for submission in submissions:
        left = end - time.monotonic()
        try:
            if submission.problem:
                raise Unreadable(submission.problem)
            if left <= 0:
                raise LimitExceeded(f"it was not read: this student's other files took more than {STUDENT_S:g} s")
            content = bounded(inspect_file, submission, most_mb, releases, seconds=min(left, SECONDS))
        except Exception as problem:
            known = isinstance(problem, Unreadable | LimitExceeded)
            note = str(problem) if known else f"could not be graded: {type(problem).__name__}: {problem}"
            review = not isinstance(problem, Unreadable)
            content = FileDecision(submission, note=note, problem=True, review=review)
        progress()
        yield submission, content


def _of_student(
    files: Iterable[tuple[Submission, FileContent | FileDecision]], graded: frozenset[str]
) -> list[FileDecision]:
    decisions, by_lesson, of_the_course = [], {}, []
    for submission, content in files:
        if isinstance(content, FileDecision):
            decisions.append(content)
        elif content.kind == TOUR or content.kind == LESSON and not content.lesson:
            of_the_course.append(submission)
        else:
            by_lesson.setdefault(content.lesson, []).append((submission, content))
    for lesson, candidates in by_lesson.items():
        if lesson not in graded:
            note = f"it belongs to lesson {lesson}, which is not graded here" if lesson else "it belongs to no lesson"
            decisions += [FileDecision(file, lesson, note=note, problem=not lesson) for file, _ in candidates]
            continue
        own = [(file, content) for file, content in candidates if content.kind == EXERCISE]
        if own:
            of_the_course += [file for file, content in candidates if content.kind != EXERCISE]
        (best, content), *others = sorted(own or candidates, key=_rank, reverse=True)
        if content.unchanged_solution:
            decisions.append(FileDecision(best, lesson, note=UNCHANGED, problem=True, review=True))
        else:
            decisions.append(FileDecision(best, lesson, counts=True))
        note = f"not graded, since {best.label} counts for lesson {lesson}"
        decisions += [FileDecision(file, lesson, note=note) for file, _ in others]
    if of_the_course and not by_lesson and not any(decision.problem for decision in decisions):
        decisions.append(FileDecision(of_the_course.pop(0), note=PAGE_ONLY, problem=True))
    if of_the_course:
        more = f" ({len(of_the_course) - 1} more files are so too)" if len(of_the_course) > 1 else ""
        decisions.append(FileDecision(of_the_course[0], note=OF_THE_COURSE + more))
    if any(decision.counts for decision in decisions):  # what else there is is no loss that the student must be told
        decisions = [_as_note(decision) for decision in decisions if not decision.lesson or decision.lesson in graded]
    return decisions


def _rank(candidate: tuple[Submission, FileContent]) -> tuple:
    submission, content = candidate
    date = submission.saved or submission.modified
    return not content.unchanged_solution, not content.untouched, date, submission.label


def _as_note(decision: FileDecision) -> FileDecision:
    """A student without a file has no problem where another file of theirs counts."""
    is_there = decision.submission.path is not None
    return replace(decision, problem=decision.problem and is_there, review=decision.review and is_there)
