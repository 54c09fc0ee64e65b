"""``report.html``: the class at a glance, and everything that wants a person's eye, on one page."""

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from course_checks.catalogue import catalogue

from ..outcomes import words
from ..submissions.submission_log import LogEntry
from .gradebook import Gradebook, Mark, Student
from .item_analysis import FEWEST, bins, item, trend
from .pages import render
from .results_folder import StoredResults

MOST_MISTAKES, MOST_NAMES, MOST_ROWS = 25, 12, 50
SMALLEST_SAME = 50  # nodes of an answer's own syntax tree; a smaller one can be the same by chance
SAYS = re.compile(r"^It looks like: (.*?)(?=^\w[\w ]*: |\Z)", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d{1,2}\.\d{1,2}")


@dataclass(frozen=True)
class Shared:
    """What several students have in common: a mistake, or one and the same answer."""

    number: str  # the exercise
    name: str  # the mistake, or the form of the answer
    students: list[str]
    entry: LogEntry  # the file of the first of them
    equal_to_solution: bool | None = None


def class_page(book: Gradebook, results: StoredResults, changed: list[tuple] | None) -> str:
    """The page. Results are read where they are shown; ``changed`` are the rows of changed.csv, None if unknown."""
    mistakes = _shared(book, lambda mark: mark.mistake)
    same = _shared(book, lambda mark: mark.form if mark.own_nodes >= SMALLEST_SAME else "")
    same = [group for group in same if len(set(group.students)) > 1]
    return render(
        "class_page.html",
        book=book,
        lessons=[_lesson(book, lesson) for lesson in book.lessons],
        trend=trend(book),
        fewest=FEWEST,
        mistakes=[(group, _named(group), _says(group, results)) for group in mistakes[:MOST_MISTAKES]],
        rarer=len(mistakes[MOST_MISTAKES:]),
        reviewed=[_reviewed(student, results) for student in book.students if student.review],
        copied=_copied(book)[:MOST_ROWS],
        same=[(group, _exercise(group, results).get("code", "")) for group in same[:MOST_ROWS]],
        smaller=len(same[MOST_ROWS:]),
        changed=changed,
        most_names=MOST_NAMES,
        most_rows=MOST_ROWS,
    )


def _marks(book: Gradebook) -> Iterator[tuple[Student, LogEntry, str, Mark]]:
    """Every graded answer of the class."""
    for student in book.students:
        for work in student.work.values():
            if work.entry is not None:
                yield from ((student, work.entry, number, mark) for number, mark in work.marks.items())


def _shared(book: Gradebook, key) -> list[Shared]:
    """Those whose answers to one exercise have the same key, the largest groups first."""
    groups: dict[tuple[str, str], Shared] = {}
    for student, entry, number, mark in _marks(book):
        if name := key(mark):
            group = groups.setdefault((number, name), Shared(number, name, [], entry, mark.equal_to_solution))
            group.students.append(student.name)
    return sorted(groups.values(), key=lambda group: (-len(group.students), group.number, group.name))


def _exercise(group: Shared, results: StoredResults) -> dict[str, Any]:
    """The answer of the first student of a group, as the result has it."""
    result = results.result(*group.entry.result) or {"exercises": []}
    return next((exercise for exercise in result["exercises"] if exercise["number"] == group.number), {})


def _says(group: Shared, results: StoredResults) -> str:
    sentence = SAYS.search(_exercise(group, results).get("message", ""))
    return " ".join(sentence[1].split()) if sentence else ""


def _named(group: Shared) -> str:
    entry = catalogue().get(group.number)
    if entry is None or not entry.is_quiz:
        return group.name
    return f"answered {group.name}: {entry.options.get(group.name, '')}".rstrip(": ")


def _lesson(book: Gradebook, lesson: str) -> dict[str, Any]:
    works = [student.work[lesson] for student in book.students]
    totals = [work.points for work in works if work.is_there]
    items = []
    for number, worth in book.lessons[lesson].items():
        kinds = (words(work.marks[number].outcome).kind if work.marks[number].outcome else "empty" for work in works)
        items.append((number, worth, Counter(kinds), item(book, lesson, number)))
    return {
        "name": lesson,
        "exercises": items,
        "totals": totals,
        "median": statistics.median(totals) if totals else None,
        "mean": statistics.fmean(totals) if totals else None,
        "bins": bins(totals, book.worth(lesson)),
    }


def _reviewed(student: Student, results: StoredResults) -> tuple[Student, list[tuple]]:
    """A student's files, each with the reasons to look at it and the answers and other cells that these name."""
    files = []
    for entry in dict.fromkeys(entry for entry, _ in student.review):
        reasons = [reason for file, reason in student.review if file == entry]
        result = results.result(*entry.result) or {"exercises": []}
        cells = result.get("cells", {})
        said = "\n".join(reasons)
        for cell in cells:
            said = said.replace(cell, "")
        named = set(NUMBER.findall(said))
        files.append((entry, reasons, [one for one in result["exercises"] if one["number"] in named], cells))
    return student, files


def _copied(book: Gradebook) -> list[tuple[Student, int, int, list[str]]]:
    """Who wrote half of the answers and two at least as the course's solution has them."""
    equal: dict[str, list[str]] = defaultdict(list)
    for student, _, number, mark in _marks(book):
        if mark.equal_to_solution:
            equal[student.name].append(number)
    rows = [(student, *student.equal_to_solution, equal[student.name]) for student in book.students]
    chosen = [row for row in rows if row[1] >= 2 and 2 * row[1] >= row[2]]
    return sorted(chosen, key=lambda row: (-row[1] / row[2], -row[1], row[0].name))
