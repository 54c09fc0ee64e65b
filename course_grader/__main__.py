"""``python -m course_grader SUBMISSIONS --output GRADES``: grade a class. docs/teaching.md tells more."""

import argparse
import contextlib
import errno
import importlib.util
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from .batch import Summary, grade_class
from .export import main as export
from .limits import Limits
from .names import counted, printable
from .options import parser
from .released_notebook import load_releases
from .reports.class_settings import LIFTED, ClassOptions, load_class_settings
from .reports.lateness import describe_due
from .reports.overrides import read_overrides
from .reports.results_folder import ResultsFolder, check_output
from .reports.roster import read_roster
from .result import GradingSettings
from .running.sandbox import NoSandbox, Sandbox


def main(arguments: list[str] | None = None) -> int:
    """Grade a class, or export its points; returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["export"]:
        return export(arguments[1:])
    args = parser().parse_args(arguments)
    started = time.monotonic()
    try:
        check_output(args.output, args.submissions)
        if args.scheduler and importlib.util.find_spec("distributed") is None:
            raise ValueError(f'--scheduler ({args.scheduler}) needs dask; install it: pip install -e ".[cluster]"')
        notebook_s = args.time_limit or Limits.notebook_s
        limits = Limits(args.cell_limit or min(Limits.cell_s, notebook_s), notebook_s)
        releases = load_releases(args.masters)  # the other lessons too: a file of one is not graded as another
        graded = load_releases(args.masters, args.lesson)
        options = _class_options(args)
        if not args.no_sandbox and not args.scheduler:
            Sandbox(limits).close()
        with contextlib.closing(ResultsFolder(args.output, args.seed, options)) as results:
            allowed, sandbox = frozenset(args.allow), not args.no_sandbox
            settings = GradingSettings(graded, results.seed, limits, sandbox, allowed, args.partial)
            if args.no_sandbox:
                print("warning: no sandbox: every submission runs with your rights on this machine", file=sys.stderr)
            if not {options.due, options.policy} <= {None, LIFTED}:
                print(_told_due(options, args.output, graded), file=sys.stderr)
            summary = grade_class(args.submissions, results, releases, settings, args.jobs, args.scheduler)
    except KeyboardInterrupt:
        print("\nstopped; run the same command again and it goes on where it was", file=sys.stderr)
        return 130
    except (ValueError, RuntimeError, OSError) as problem:
        print(f"error: {_explained(problem, args.output)}", file=sys.stderr)
        return 2
    print(_described(summary, args.output, time.monotonic() - started))
    return 0


def _class_options(args: argparse.Namespace) -> ClassOptions:
    """What was told about the class. Everything that a person wrote is read before the first submission."""
    known = args.due or load_class_settings(args.output).deadlines
    read_overrides(args.output)
    if args.late not in (None, LIFTED) and known in ({}, LIFTED):
        raise ValueError(f"--late ({args.late}) needs a deadline; expected --due beside it, such as 2026-11-30T23:59")
    return ClassOptions(args.due, args.late, None if args.roster is None else read_roster(args.roster))


def _told_due(options: ClassOptions, output: Path, lessons: Iterable[str]) -> str:
    """The deadlines and what is taken off after them, also where an earlier run was told that."""
    deadlines = load_class_settings(output).updated(options, lessons).deadlines
    return "\n".join(
        f"lesson {lesson}: due {describe_due(deadline.due)}; late: {deadline.policy or 'nothing is taken off'}"
        for lesson, deadline in deadlines.items()
        if lesson in lessons
    )


def _explained(problem: Exception, output: Path) -> str:
    if isinstance(problem, NoSandbox):
        return f"{problem}\n--no-sandbox grades without, and stamps every result so"
    if isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
        where = problem.filename or output
        return (
            f"output ({output}): no space left on the disk for {where}; expected room for about 50 KB a student. "
            "What was graded is kept and no file is half-written: make room, and run the same command again"
        )
    if isinstance(problem, OSError) and problem.filename:
        return (
            f"{problem.filename} cannot be written ({problem.strerror}); expected a place that you may write to "
            f"(--output is {output}; copies of the library lie in your folder for caches, or in XDG_CACHE_HOME)"
        )
    return str(problem)


def _described(summary: Summary, output: Path, seconds: float) -> str:
    lines = [
        f"{counted(len(summary.students), 'student')}; {counted(summary.graded, 'notebook')} graded in {seconds:.0f} s, "
        f"{summary.kept} kept from before"
    ]
    lines += [f"  not graded: {printable(name)}: {why}" for name, why in sorted(summary.problems.items())]
    lines += [f"  not looked at: {name}" for name in summary.left_out]
    lines += [f"  {why}" for why in summary.unmatched]
    lines += [f"  {row}" for row in summary.by_hand_only]
    lines += [f"  nothing handed in: {summary.absent} of the roster"] if summary.absent else []
    lines += [f"  to be looked at: {printable(name)}" for name in sorted(summary.review)]
    return "\n".join([*lines, f"{output / 'grades.csv'}, {output / 'report.html'}, {output / 'feedback'}"])


if __name__ == "__main__":
    sys.exit(main())
