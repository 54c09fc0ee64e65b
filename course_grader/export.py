"""``python -m course_grader export --format canvas GRADES --output FILE.csv``: the points for a learning platform."""

import os
import sys
from pathlib import Path

from course_utils.files import write_whole

from .names import counted
from .options import export_parser
from .reports.platforms import FORMATS
from .reports.results_folder import FILES, FOLDERS, StoredResults
from .reports.write_reports import load_gradebook
from .submissions.submission_log import read_log


def main(arguments: list[str]) -> int:
    """Write what an output folder holds; returns the exit status."""
    args = export_parser().parse_args(arguments)
    try:
        _check_output(args.output, args.grades)
        entries = read_log(args.grades)
        if not entries:
            raise ValueError(f"GRADES ({args.grades}): nothing was graded there; expected the --output of the grader")
        book = load_gradebook(StoredResults(args.grades), entries)
        lessons = list(book.lessons) if args.lesson is None else [args.lesson]
        if missing := [lesson for lesson in lessons if lesson not in book.lessons]:
            there = ", ".join(book.lessons) or "none"
            raise ValueError(f"--lesson ({missing[0]}) was not graded there; expected one of {there}")
        write_whole(args.output, FORMATS[args.format](book, lessons))
    except (ValueError, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    print(f"{args.output}: {counted(len(book.students), 'student')}, lessons {', '.join(lessons)}")
    return 0


def _check_output(output: Path, grades: Path) -> None:
    own, path = Path(os.path.realpath(grades)), Path(os.path.realpath(output))
    inside = path.relative_to(own).parts[:1] if path.is_relative_to(own) else ()
    if set(inside) & {*FILES, *FOLDERS, ".lock"}:
        raise ValueError(
            f"--output ({output}) is the grader's own ({inside[0]}); expected a file that the grader does not write: "
            f"give another name, such as {grades / 'export.csv'}"
        )
