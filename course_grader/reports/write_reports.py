"""Writing all reports: first everything is made, then everything is written, so that an error leaves the old ones whole."""

import re
from collections.abc import Iterable
from pathlib import Path

from course_utils.files import write_whole

from ..submissions.submission_log import LogEntry
from . import overrides
from .class_page import class_page
from .class_settings import FILE, ClassSettings, load_class_settings
from .csv_files import BYTE_ORDER_MARK, parsed, written
from .gradebook import Gradebook, class_of, make_gradebook
from .pages import page
from .results_folder import ResultsFolder, StoredResults
from .table import review, table

POINTS = re.compile(r"(\d+\.\d+) points|(lesson \d+)")


def load_gradebook(
    results: StoredResults, entries: Iterable[LogEntry], settings: ClassSettings | None = None
) -> Gradebook:
    """The class as it stands in an output folder, overrides included."""
    settings = load_class_settings(results.folder) if settings is None else settings
    return make_gradebook(results, entries, settings, overrides.read_overrides(results.folder))


def check_instructor_files(results: ResultsFolder, entries: Iterable[LogEntry]) -> None:
    """Look at what people wrote into the output folder, before a class is graded for an hour."""
    settings = load_class_settings(results.folder).updated(results.options, ())
    overrides.decided_for(overrides.read_overrides(results.folder), class_of(entries, settings), results.folder)


def write_reports(results: ResultsFolder, entries: Iterable[LogEntry], lessons: Iterable[str]) -> Gradebook:
    """Write ``grades.csv``, ``review.csv``, ``changed.csv``, ``report.html`` and every student's page.

    The entries are of this run and of earlier ones; a deadline among this run's options is one of ``lessons``.
    """
    entries = list(entries)
    settings = load_class_settings(results.folder).updated(results.options, lessons)
    book = load_gradebook(results, entries, settings)
    grades = table(book)
    changed = _changed(results.folder / "grades.csv", grades)
    texts = {
        FILE: settings.dumps(),
        "review.csv": review(book),
        "changed.csv": written([("student", "exercise", "before", "after"), *(changed or [])]),
        "report.html": class_page(book, results, changed),
        "grades.csv": grades,
    }
    if not (results.folder / overrides.FILE).exists():
        texts[overrides.FILE] = BYTE_ORDER_MARK + overrides.TEMPLATE.read_text(encoding="utf-8")
    for name, text in texts.items():
        write_whole(results.folder / name, text)
    works = {work.entry: work for student in book.students for work in student.work.values() if work.entry}
    for entry in entries:
        result = results.result(*entry.result)
        if result is not None:
            text = page(entry.student, entry.label, result, works.get(entry))
            results.store_page(entry.student, entry.label, text, entry.lesson)
    return book


def _changed(earlier: Path, grades: str) -> list[tuple[str, str, str, str]] | None:
    """Student, exercise or lesson, points before and after; None where there is no earlier table that can be read."""
    try:
        columns, old_rows = parsed(earlier.read_bytes(), "grades.csv")
    except (OSError, ValueError):
        return None
    before = {row.values.get("student"): row.values for row in old_rows}
    changed = []
    for row in parsed(grades.encode(), "grades.csv")[1]:
        student = row.values["student"]
        for column in columns if student in before else ():
            match = POINTS.fullmatch(column)
            old, new = before[student].get(column, ""), row.values.get(column, "")
            if match and _number(old) != _number(new):
                changed.append((student, match[2] or f"exercise {match[1]}", old, new))
    return changed


def _number(text: str) -> float | str:
    """A spreadsheet may have written another form of the same number."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text
