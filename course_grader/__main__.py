"""``python -m course_grader SUBMISSIONS --output GRADES``: grade a class. docs/teaching.md tells more."""

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from . import show_room
from .batch import Summary, grade_class
from .grade import Terms, masters_as_bytes
from .limits import Limits
from .master import load_masters
from .names import printable
from .reports.results_folder import ResultsFolder
from .running.sandbox import EXERCISES, NoSandbox, Sandbox

STOPPED = "\nstopped; run the same command again and it goes on where it was"


def main(arguments: list[str] | None = None) -> int:
    """Grade a class; returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["room"]:
        return show_room.main(arguments[1:])
    given = _parser().parse_args(arguments)
    try:
        graded = load_masters(given.masters, given.lesson)
        masters = load_masters(given.masters)  # the other lessons too: a file of one is not graded as another
        limits = Limits()
        if given.time_limit is not None:
            limits = replace(limits, notebook_s=given.time_limit, cell_s=min(limits.cell_s, given.time_limit))
        if given.cell_limit is not None:
            limits = replace(limits, cell_s=given.cell_limit)
        if not given.no_sandbox and not given.scheduler:
            Sandbox(limits).close()
        results = ResultsFolder(given.output, given.seed)
    except (ValueError, RuntimeError, OSError) as problem:
        hint = "" if not isinstance(problem, NoSandbox) else "\n--no-sandbox grades without, and stamps every result so"
        print(f"error: {problem}{hint}", file=sys.stderr)
        return 2
    terms = Terms(
        masters_as_bytes(given.masters, graded),
        results.seed,
        limits,
        sandbox=not given.no_sandbox,
        fresh=given.fresh,
        allowed=frozenset(given.allow),
    )
    if given.no_sandbox:
        print("warning: no sandbox: every submission runs with your rights on this machine", file=sys.stderr)
    started = time.monotonic()
    try:
        summary = grade_class(given.submissions, results, masters, terms, given.jobs, given.scheduler)
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        return 130
    except ValueError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    finally:
        results.close()
    print(_said(summary, given.output, time.monotonic() - started))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m course_grader", description="Grade a class's notebooks.")
    parser.add_argument(
        "submissions", type=Path, help="folder with a folder, ZIP or notebook per student, or a ZIP of it"
    )
    parser.add_argument("--output", type=Path, required=True, help="folder for grades.csv, results/ and feedback/")
    parser.add_argument("--lesson", help="this lesson only, such as 05")
    parser.add_argument("--masters", type=Path, default=EXERCISES, help="folder of exercise notebooks")
    parser.add_argument("--jobs", type=_positive, default=_cores(), help="submissions at a time (default: one a core)")
    parser.add_argument("--scheduler", help="address of a dask scheduler, to grade on its workers instead")
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds for a whole notebook (default 300)")
    parser.add_argument("--cell-limit", type=float, metavar="S", help="seconds for one cell (default 60)")
    parser.add_argument(
        "--allow", action="append", default=[], metavar="N.M", help="off limits is allowed in this exercise"
    )
    parser.add_argument("--seed", help="of the inputs, to grade as an earlier run did (it stands in run.json)")
    parser.add_argument("--no-sandbox", action="store_true", help="run submissions with your own rights")
    parser.add_argument("--fresh", action="store_true", help="load PyTorch anew for each kernel (slower)")
    return parser


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _said(summary: Summary, output: Path, seconds: float) -> str:
    lines = [
        f"{len(summary.students)} students; {summary.graded} notebooks graded in {seconds:.0f} s, {summary.kept} kept from before"
    ]
    lines += [f"  not graded: {printable(name)}: {why}" for name, why in sorted(summary.problems.items())]
    lines += [f"  not looked at: {name}" for name in summary.left_out]
    lines += [f"  to be looked at: {printable(name)}" for name in sorted(summary.review)]
    return "\n".join([*lines, f"{output / 'grades.csv'}, {output / 'feedback'}"])


if __name__ == "__main__":
    sys.exit(main())
