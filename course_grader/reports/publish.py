"""Writing all reports: first everything is made, then everything is written, so that an error leaves the old ones whole."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from course_utils.files import write_whole

from ..master import Master, load_masters
from ..submissions.record import Entry
from . import class_record, overrides
from .class_page import class_page
from .feedback import page
from .gradebook import Gradebook, check_names, make
from .results_folder import ResultsFolder, StoredResults
from .same_answers import SameAnswers, answers
from .table import review, table

SOLUTIONS = Path(__file__).resolve().parent.parent.parent / "solutions"


def gradebook(
    results: StoredResults, entries: Iterable[Entry], record: class_record.ClassRecord | None = None
) -> Gradebook:
    """The class as it stands in an output folder, overrides included.

    Raises:
        ValueError: The record is damaged, or a row of the overrides is mistyped.
    """
    record = class_record.load(results.folder) if record is None else record
    return make(results, entries, record, overrides.read_overrides(results.folder))


def check(results: ResultsFolder, entries: Iterable[Entry]) -> None:
    """Look at what people wrote into the output folder, before a class is graded for an hour.

    Raises:
        ValueError: The record is damaged, or a row of the overrides is mistyped.
    """
    record = class_record.load(results.folder).told(results.choices, ())
    check_names(entries, record, overrides.read_overrides(results.folder), results.folder)


def publish(
    results: ResultsFolder, entries: Iterable[Entry], masters: Mapping[str, Master], lessons: Iterable[str]
) -> Gradebook:
    """Write ``grades.csv``, ``review.csv``, ``report.html`` and every student's page.

    Args:
        results: The output folder, with what this run was told.
        entries: Every file of every student, of this run and of earlier ones.
        masters: All lessons.
        lessons: Those that this run graded files of: a deadline that it was told is theirs.

    Raises:
        ValueError: The record is damaged, or a row of the overrides is mistyped; nothing is written then.
    """
    entries = list(entries)
    record = class_record.load(results.folder).told(results.choices, lessons)
    book = gradebook(results, entries, record)
    same = SameAnswers(masters.values(), _solutions())
    texts = {
        class_record.FILE: record.dumps(),
        "review.csv": review(book),
        "report.html": class_page(book, results, same),
        "grades.csv": table(book),
    }
    if not (results.folder / overrides.FILE).exists():
        texts[overrides.FILE] = overrides.TEMPLATE
    for name, text in texts.items():
        write_whole(results.folder / name, text)
    works = {work.entry: work for student in book.students for work in student.work.values() if work.entry}
    for entry in entries:
        result = results.result(*entry.result)
        if result is not None:
            text = page(entry.student, entry.label, result, works.get(entry))
            results.store_page(entry.student, entry.label, text, entry.lesson)
    return book


def _solutions() -> dict[str, str]:
    """The course's own answers, where they are at hand."""
    try:
        masters = load_masters(SOLUTIONS)
    except (OSError, ValueError):
        return {}
    return {number: code for master in masters.values() for number, code in answers(master).items()}
