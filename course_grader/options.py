"""The grader's command line: what may be given, and what is said of a value that may not."""

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from course_checks.catalogue import catalogue

from .reports.class_settings import LIFTED
from .reports.lateness import DUE_FORM, POLICY_FORM, parse_due, parse_policy
from .reports.platforms import FORMATS
from .running.sandbox import EXERCISES


def parser() -> argparse.ArgumentParser:
    """To grade a class."""
    more = "More: python -m course_grader export --help, docs/teaching.md"
    parser = argparse.ArgumentParser("python -m course_grader", description="Grade a class's notebooks.", epilog=more)
    add = parser.add_argument
    add("submissions", type=_there, help="folder with a folder, ZIP or notebook per student, or a ZIP of it")
    add("--output", type=Path, required=True, help="folder for grades.csv, report.html, results/ and feedback/")
    add("--lesson", help="this lesson only, such as 05")
    add("--roster", type=Path, metavar="FILE.csv", help="the class: id, e-mail, name; who handed in nothing is listed")
    policy = POLICY_FORM.replace("%", "%%")
    add("--due", type=_due, metavar="TIME", help=f"deadline, {DUE_FORM}; none: lift an earlier run's")
    add("--late", type=_policy, metavar="POLICY", help=f"taken off after it: {policy}; none: drop an earlier run's")
    add("--masters", type=Path, default=EXERCISES, help="folder of exercise notebooks")
    add("--jobs", type=_count, default=cores(), metavar="N", help="submissions at a time (default: one a core)")
    add("--scheduler", help="address of a dask scheduler, to grade on its workers instead")
    add("--time-limit", type=_seconds, metavar="S", help="seconds for a whole notebook (default 300)")
    add("--cell-limit", type=_seconds, metavar="S", help="seconds for one cell (default 120)")
    add("--allow", type=_exercise, action="append", default=[], metavar="N.M", help="off limits is allowed in it")
    add("--partial", action="store_true", help="up to half the points for what is wrong in special cases only")
    add("--seed", help="of the inputs, to grade as an earlier run did (it stands in run.json)")
    add("--no-sandbox", action="store_true", help="run submissions with your own rights")
    return parser


def export_parser() -> argparse.ArgumentParser:
    """To write the points in the form of a learning platform."""
    description = "Write the points in the form that a learning platform imports."
    parser = argparse.ArgumentParser("python -m course_grader export", description=description)
    add = parser.add_argument
    add("grades", type=Path, help="output folder of the grader")
    add("--format", required=True, choices=sorted(FORMATS), help="for which platform")
    add("--output", type=Path, required=True, metavar="FILE.csv", help="file to write")
    add("--lesson", type=_lesson, help="this lesson only, such as 05")
    return parser


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _stated(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser whose ``ValueError`` reaches the user in its own words."""

    def stated(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as problem:
            raise argparse.ArgumentTypeError(str(problem)) from None

    return stated


def _like(pattern: str, make: Callable[[str], Any], expected: str) -> Callable[[str], Any]:
    """A parser of what has this form, and is refused in these words otherwise."""

    def parse(text: str) -> Any:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{text!r} {expected}")
        return make(text)

    return _stated(parse)


_count = _like(r"[1-9]\d*", int, "is not a whole number of at least 1")
_seconds = _like(r"(?=.*[1-9])\d*\.?\d+", float, "is not a time; expected seconds, more than 0, such as 300")
_lesson = _like(r"\d{1,2}", lambda text: f"{int(text):02d}", "is not a lesson; expected a number such as 05")
_numbers = "|".join(map(re.escape, catalogue()))
_exercise = _like(_numbers, str, "is no exercise; expected one such as 4.2, and for more --allow 4.2 --allow 5.1")


def _there(text: str) -> Path:
    if Path(text).exists():
        return Path(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not there; expected the folder of the submissions, or a ZIP of it")


_due = _stated(lambda text: text if text == LIFTED else parse_due(text))
_policy = _stated(lambda text: text if text == LIFTED else parse_policy(text))
