"""Writing all reports: first everything is made, then everything is written, so that an error leaves the old ones whole."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from course_utils.files import write_whole

from ..released_notebook import ReleasedNotebook, load_releases
from ..submissions.submission_log import LogEntry
from . import overrides
from .class_page import class_page
from .class_settings import FILE, ClassSettings, load_class_settings
from .feedback import page
from .gradebook import Gradebook, check_names, make_gradebook
from .results_folder import ResultsFolder, StoredResults
from .same_answers import SameAnswers, answers
from .table import review, table

SOLUTIONS = Path(__file__).resolve().parent.parent.parent / "solutions"


def load_gradebook(
    results: StoredResults, entries: Iterable[LogEntry], settings: ClassSettings | None = None
) -> Gradebook:
    """The class as it stands in an output folder, overrides included.

    Raises:
        ValueError: The class settings are damaged, or a row of the overrides is mistyped.
    """
    settings = load_class_settings(results.folder) if settings is None else settings
    return make_gradebook(results, entries, settings, overrides.read_overrides(results.folder))


def check_instructor_files(results: ResultsFolder, entries: Iterable[LogEntry]) -> None:
    """Look at what people wrote into the output folder, before a class is graded for an hour.

    Raises:
        ValueError: The class settings are damaged, or a row of the overrides is mistyped.
    """
    settings = load_class_settings(results.folder).updated(results.options, ())
    check_names(entries, settings, overrides.read_overrides(results.folder), results.folder)


def write_reports(
    results: ResultsFolder,
    entries: Iterable[LogEntry],
    releases: Mapping[str, ReleasedNotebook],
    lessons: Iterable[str],
) -> Gradebook:
    """Write ``grades.csv``, ``review.csv``, ``report.html`` and every student's page.

    Args:
        results: The output folder, with the options of this run.
        entries: Every file of every student, of this run and of earlier ones.
        releases: All lessons.
        lessons: Those that this run graded files of: a deadline among the options is theirs.

    Raises:
        ValueError: The class settings are damaged, or a row of the overrides is mistyped; nothing is written then.
    """
    entries = list(entries)
    settings = load_class_settings(results.folder).updated(results.options, lessons)
    book = load_gradebook(results, entries, settings)
    texts = {
        FILE: settings.dumps(),
        "review.csv": review(book),
        "report.html": class_page(book, results, SameAnswers(releases.values(), _solutions())),
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
        solved = load_releases(SOLUTIONS)
    except (OSError, ValueError):
        return {}
    return {number: code for notebook in solved.values() for number, code in answers(notebook).items()}
