"""Command line: ``python -m course_authoring build|check [--only 05]``, ``... new 13_state_spaces "State spaces"``."""

import argparse
import sys
import time
from pathlib import Path

from .build import build, check
from .errors import AuthoringError
from .new_lesson import new_lesson


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the process's exit status: 0 well, 1 something named is wrong."""
    parser = argparse.ArgumentParser(prog="python -m course_authoring", description=__doc__)
    commands = "write what changed / name what differs / lay out a new lesson"
    parser.add_argument("command", choices=("build", "check", "new"), help=commands)
    parser.add_argument("name", nargs="?", help="new: number and name of the lesson, such as 13_state_spaces")
    parser.add_argument("title", nargs="?", help="new: its title (default: made from the name)")
    parser.add_argument("--only", metavar="05", help="only sources whose name begins with this")
    parser.add_argument("--root", type=Path, default=Path(), help="the project's folder (default: here)")
    parser.add_argument("--jobs", type=int, help="notebooks run at the same time (default: one a core)")
    parser.add_argument("--force", action="store_true", help="build: also what is up to date")
    options = parser.parse_args(arguments)
    if options.jobs is not None and options.jobs < 1:
        parser.error(f"--jobs ({options.jobs}) must be at least 1")
    if (options.command == "new") != (options.name is not None):
        parser.error("new takes the name of a lesson, such as 13_state_spaces; build and check take none")
    root, started = options.root.resolve(), time.monotonic()
    try:
        if options.command == "new":
            for path in new_lesson(root, options.name, options.title):
                print(f"wrote {path}")
            print("next: edit these, then `make build` and `make test`")
            return 0
        if options.command == "build":
            written = build(root, options.only, options.jobs, options.force)
            for path in written:
                print(f"wrote {path}")
            print(f"{len(written)} written in {time.monotonic() - started:.1f} s; the rest is up to date")
            return 0
        problems = check(root, options.only)
    except* AuthoringError as group:
        for problem in group.exceptions:
            print(f"error: {problem}", file=sys.stderr)
        problems = None
    if problems is None:
        return 1
    for problem in problems:
        print(f"differs: {problem}", file=sys.stderr)
    print(f"{len(problems) or 'no'} difference(s) from the sources, in {time.monotonic() - started:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
