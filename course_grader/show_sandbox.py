"""``python -m course_grader sandbox --lesson 05``: what a submission can see of the course."""

import argparse
import sys
from pathlib import Path

from .released_notebook import load_releases
from .running.library_copy import library_copy
from .running.sandbox import EXERCISES

LISTING = """\
imported from: {folder}
of course_checks only running/ is there: what decides, the solutions and the quizzes' letters are not;
check(...) judges nothing there

names without a body in the first run, in which every exercise is tried:
{names}

if an exercise was not right there and one of them was called that it may use, it is tried again without:
{exercises}

files:
{files}"""


def main(arguments: list[str]) -> int:
    """Print the list; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m course_grader sandbox",
        description="What a submission can see of the course, and what it cannot.",
    )
    parser.add_argument("--lesson", required=True, help="such as 05")
    parser.add_argument("--masters", type=Path, default=EXERCISES, help="folder of exercise notebooks")
    options = parser.parse_args(arguments)
    try:
        releases = load_releases(options.masters, options.lesson)
    except ValueError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    from .run_and_judge import removed_names  # PyTorch comes with it

    for released in releases.values():
        print(listing({number: removed_names(number) for number in released.exercises}))
    return 0


def listing(removed: dict[str, frozenset[str]]) -> str:
    """What is in the library copy of a lesson's first run, and what in those of others.

    Args:
        removed: Exercise -> the names of the library that are off limits in it.
    """
    everything = frozenset().union(*removed.values())
    folder = library_copy(everything)
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return LISTING.format(
        folder=folder,
        names="\n".join(f"  {name}" for name in sorted(everything)) or "  none",
        exercises="\n".join(f"  {n:>5}  {', '.join(sorted(names)) or 'nothing'}" for n, names in removed.items()),
        files="\n".join(f"  {path.relative_to(folder)}" for path in files),
    )
