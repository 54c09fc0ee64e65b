"""One notebook in as many runs as its exercises need: in the first, nothing that any of them puts off limits has a body.

Most answers need nothing of that, and are judged on what they do there. Where an exercise was not right and something was
called that this exercise may use, it runs again, with a copy of the library without just its own names.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from course_checks.catalogue import catalogue_entry
from course_checks.deciding.find import find

from .judging.score import ExerciseScore
from .limits import Limits
from .running.kernel import Kernel
from .running.library_copy import library_copy
from .running.run import RunLog, run
from .submissions.rebuild import NotebookStep

LIBRARY = "course_utils."
MIN_LEFT_S = 1.0  # with less than that no other run is begun


def removed_names(number: str) -> frozenset[str]:
    """The names of the library that an exercise puts off limits."""
    if catalogue_entry(number).is_quiz:
        return frozenset()
    return frozenset(name for name in find(number).call.off_limits if name.startswith(LIBRARY))


def run_and_judge(
    steps: tuple[NotebookStep, ...],
    probes: dict[str, tuple[str, dict, bool]],
    limits: Limits,
    open_kernel: Callable[[float, Path], Kernel],
    judge: Callable[[RunLog, Collection[str]], list[ExerciseScore]],
) -> tuple[RunLog, list[ExerciseScore]]:
    """Run a rebuilt notebook, and judge it.

    Args:
        steps: The rebuilt notebook.
        probes: As for ``run``; where an exercise is not guarded, nothing is off limits in it.
        limits: The submission's limits, all its runs together.
        open_kernel: Deadline and library copy -> a kernel, not yet started.
        judge: From what was observed to what the exercises of these numbers earn.
    """
    removed = {number: removed_names(number) if guarded else frozenset() for number, (_, _, guarded) in probes.items()}

    def run_without(names: frozenset[str], steps: tuple[NotebookStep, ...], seconds: float) -> RunLog:
        library, remaining = library_copy(names), replace(limits, notebook_s=seconds)
        return asyncio.run(run(steps, probes, remaining, lambda deadline: open_kernel(deadline, library)))

    run_log = run_without(frozenset().union(*removed.values()), steps, limits.notebook_s)
    scores = {score.number: score for score in judge(run_log, probes)}
    for names in dict.fromkeys(removed.values()):
        chosen = {n for n, score in scores.items() if removed[n] == names and _may_do_better(score, run_log, names)}
        if not chosen:
            continue
        seconds_left = limits.notebook_s - run_log.seconds
        if seconds_left > MIN_LEFT_S:
            chosen_steps = tuple(step for step in steps if step.role != "check" or step.number in chosen)
            rerun = run_without(names, chosen_steps, seconds_left)
        else:
            rerun = RunLog(lost=dict.fromkeys(chosen, "notebook time limit"))
        _replace_by(run_log, rerun, chosen)
        scores |= {score.number: score for score in judge(run_log, chosen)}
    return run_log, list(scores.values())


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
    run_log.seconds += rerun.seconds
