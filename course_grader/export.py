"""``python -m course_grader export --format canvas GRADES --output FILE.csv``: the points for a learning platform."""

import sys

from course_utils.files import write_whole

from .options import export_parser
from .reports.platforms import FORMATS
from .reports.publish import gradebook
from .reports.results_folder import StoredResults
from .submissions.record import recorded


def main(arguments: list[str]) -> int:
    """Write what an output folder holds; returns the exit status."""
    given = export_parser().parse_args(arguments)
    try:
        entries = recorded(given.grades)
        if not entries:
            raise ValueError(f"GRADES ({given.grades}): nothing was graded there; expected the --output of the grader")
        book = gradebook(StoredResults(given.grades), entries)
        lessons = list(book.lessons) if given.lesson is None else [given.lesson]
        if missing := [lesson for lesson in lessons if lesson not in book.lessons]:
            there = ", ".join(book.lessons) or "none"
            raise ValueError(f"--lesson ({missing[0]}) was not graded there; expected one of {there}")
        write_whole(given.output, FORMATS[given.format](book, lessons))
    except (ValueError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    print(f"{given.output}: {len(book.students)} students, lessons {', '.join(lessons)}")
    return 0
