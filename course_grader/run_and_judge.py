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
from .running.run import Trace, run
from .submissions.rebuild import Step

LIBRARY = "course_utils."
MIN_LEFT_S = 1.0  # with less than that no other run is begun


def removed_names(number: str) -> frozenset[str]:
    """The names of the library that an exercise puts off limits."""
    if catalogue_entry(number).is_quiz:
        return frozenset()
    return frozenset(name for name in find(number).call.off_limits if name.startswith(LIBRARY))


def run_and_judge(
    steps: tuple[Step, ...],
    probes: dict[str, tuple[str, dict, bool]],
    limits: Limits,
    open_kernel: Callable[[float, Path], Kernel],
    judge: Callable[[Trace, Collection[str]], list[ExerciseScore]],
) -> tuple[Trace, list[ExerciseScore]]:
    """Run a rebuilt notebook, and judge it.

    Args:
        steps: The rebuilt notebook.
        probes: As for ``run``; where an exercise is not guarded, nothing is off limits in it.
        limits: The submission's limits, all its runs together.
        open_kernel: Deadline and library copy -> a kernel, not yet started.
        judge: From what was observed to what the exercises of these numbers earn.
    """
    removed = {number: removed_names(number) if guarded else frozenset() for number, (_, _, guarded) in probes.items()}

    def run_without(names: frozenset[str], steps: tuple[Step, ...], seconds: float) -> Trace:
        library, remaining = library_copy(names), replace(limits, notebook_s=seconds)
        return asyncio.run(run(steps, probes, remaining, lambda deadline: open_kernel(deadline, library)))

    trace = run_without(frozenset().union(*removed.values()), steps, limits.notebook_s)
    scores = {score.number: score for score in judge(trace, probes)}
    for names in dict.fromkeys(removed.values()):
        chosen = {n for n, score in scores.items() if removed[n] == names and _may_do_better(score, trace, names)}
        if not chosen:
            continue
        seconds_left = limits.notebook_s - trace.seconds
        if seconds_left > MIN_LEFT_S:
            chosen_steps = tuple(step for step in steps if step.role != "probe" or step.number in chosen)
            rerun = run_without(names, chosen_steps, seconds_left)
        else:
            rerun = Trace(lost=dict.fromkeys(chosen, "notebook time limit"))
        _replace_by(trace, rerun, chosen)
        scores |= {score.number: score for score in judge(trace, chosen)}
    return trace, list(scores.values())


def _may_do_better(score: ExerciseScore, trace: Trace, names: frozenset[str]) -> bool:
    if score.outcome == "right" or catalogue_entry(score.number).is_quiz:
        return False
    if score.outcome == "not attempted" and find(score.number).call.expects != "value":
        return False  # an experiment's cell that was stopped leaves its dict empty, too
    stopped = any(error == "OffLimits" for error, _ in trace.cell_errors.values())
    return stopped or bool(trace.removed_calls - names)


def _replace_by(trace: Trace, rerun: Trace, numbers: set[str]) -> None:
    """Put what was observed in a rerun in the place of what was observed before."""
    for number in numbers:
        for name in ("observed", "lost", "cell_errors"):
            before, after = getattr(trace, name), getattr(rerun, name)
            before.pop(number, None)
            if number in after:
                before[number] = after[number]
    trace.events += [event for event in rerun.events if event not in trace.events]
    trace.seconds += rerun.seconds
