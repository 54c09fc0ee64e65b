"""One notebook in as many runs as its exercises need: in the first, nothing that any of them puts off limits has a body.

Most answers need nothing of that, and are judged on what they do there. Where an exercise was not right and something was
called that this exercise may use, it runs again, with a copy of the library without just its own names.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path

from course_checks.catalogue import catalogue_entry
from course_checks.deciding.find import find

from .judging.score import ExerciseScore
from .limits import Limits
from .running.kernel import Kernel
from .running.library_copy import library_copy
from .running.run import LIBRARY, Probe, RunLog, run
from .submissions.rebuild import NotebookStep

MIN_LEFT_S = 1.0  # with less than that no other run is begun


def removed_names(number: str) -> frozenset[str]:
    """The names of the library that an exercise puts off limits."""
    return frozenset(name for name in find(number).call.off_limits if name.startswith(LIBRARY))


class Runs:
    """The runs of one submission, all within its time. ``open_kernel`` makes a kernel of a deadline and a library copy."""

    def __init__(self, limits: Limits, open_kernel: Callable[[float, Path], Kernel]) -> None:
        self.limits, self.open_kernel, self.seconds = limits, open_kernel, 0.0

    def run(
        self, names: frozenset[str], steps: Iterable[NotebookStep], probes: dict[str, Callable[[str], str]]
    ) -> RunLog:
        """Run steps with a copy of the library without the bodies of ``names``, in the time that is left."""
        left, steps = self.limits.notebook_s - self.seconds, tuple(steps)
        if self.seconds and left <= MIN_LEFT_S:
            return RunLog(lost={step.number: "notebook time limit" for step in steps if step.role == "check"})
        library, limits = library_copy(names), replace(self.limits, notebook_s=left)
        run_log = run(steps, probes, limits, lambda deadline: self.open_kernel(deadline, library))
        self.seconds += run_log.seconds
        return run_log


def run_and_judge(
    steps: tuple[NotebookStep, ...],
    probes: dict[str, Probe],
    runs: Runs,
    judge: Callable[[RunLog, Collection[str]], list[ExerciseScore]],
) -> tuple[RunLog, dict[str, ExerciseScore], dict[str, frozenset[str]]]:
    """Run a rebuilt notebook, and judge it; ``judge`` tells of what was observed what the exercises of these numbers earn.

    Returns what the runs brought; what each exercise earns; without which names of the library each was judged.
    """
    removed = {number: removed_names(number) if probe.guarded else frozenset() for number, probe in probes.items()}
    all_names = frozenset().union(*removed.values())
    run_log = runs.run(all_names, steps, probes)
    without = dict.fromkeys(probes, all_names)
    scores = {score.number: score for score in judge(run_log, probes)}
    for names in dict.fromkeys(removed.values()):
        chosen = {n for n, score in scores.items() if removed[n] == names and _may_do_better(score, run_log, names)}
        if not chosen:
            continue
        rerun = runs.run(names, (step for step in steps if step.role != "check" or step.number in chosen), probes)
        _replace_by(run_log, rerun, chosen)
        scores |= {score.number: score for score in judge(run_log, chosen)}
        without |= dict.fromkeys(chosen, names)
    return run_log, scores, without


def _may_do_better(score: ExerciseScore, run_log: RunLog, names: frozenset[str]) -> bool:
    if score.outcome == "right" or catalogue_entry(score.number).is_quiz:
        return False
    if score.outcome == "not attempted" and find(score.number).call.expects != "value":
        return False  # an experiment's cell that was stopped leaves its dict empty, too
    stopped = any(error == "OffLimits" for error, _ in run_log.cell_errors.values())
    return stopped or bool(run_log.removed_calls - names)


def _replace_by(run_log: RunLog, rerun: RunLog, numbers: set[str]) -> None:
    """Put what was observed in a rerun in the place of what was observed before."""
    for number in numbers:
        for name in ("observed", "lost", "cell_errors"):
            before, after = getattr(run_log, name), getattr(rerun, name)
            before.pop(number, None)
            if number in after:
                before[number] = after[number]
    run_log.events += [event for event in rerun.events if event not in run_log.events]
