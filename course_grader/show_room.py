"""``python -m course_grader room --lesson 05``: what a submission can see of the course."""

import argparse
import sys
from pathlib import Path

from .released_notebook import load_releases
from .rooms import hidden_in
from .running.room import room
from .running.sandbox import EXERCISES


def main(arguments: list[str]) -> int:
    """Print the list; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m course_grader room", description="What a submission can see of the course, and what it cannot."
    )
    parser.add_argument("--lesson", required=True, help="such as 05")
    parser.add_argument("--masters", type=Path, default=EXERCISES, help="folder of exercise notebooks")
    given = parser.parse_args(arguments)
    try:
        releases = load_releases(given.masters, given.lesson)
    except ValueError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    for released in releases.values():
        print("\n".join(listing({number: hidden_in(number) for number in released.exercises})))
    return 0


def listing(hidden: dict[str, frozenset[str]]) -> list[str]:
    """Lines that say what is in a lesson's first room and what in others.

    Args:
        hidden: Exercise -> the names of the library that are off limits in it.
    """
    first = frozenset().union(*hidden.values())
    folder = room(first)
    lines = [
        f"room: {folder}",
        "of course_checks only running/ is there: what decides, the solutions and the quizzes' letters are not;",
        "check(...) judges nothing there",
        "",
    ]
    lines += ["names without a body in the first room, in which every exercise is tried:"]
    lines += [f"  {name}" for name in sorted(first)] or ["  none"]
    lines += [
        "",
        "if an exercise was not right there and one of them was called that it may use, it is tried again without:",
    ]
    lines += [f"  {number:>5}  {', '.join(sorted(names)) or 'nothing'}" for number, names in hidden.items()]
    lines += ["", "files:"]
    return [*lines, *(f"  {path.relative_to(folder)}" for path in sorted(folder.rglob("*")) if _is_shown(path))]


def _is_shown(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts
