"""One notebook in as many rooms as its exercises need: the first without anything that any of them puts off limits.

Most answers need nothing of that, and are judged on what they do there. Where an exercise was not right and something was
called that this exercise may use, it is tried again, in a room of its own kind.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from course_checks.catalogue import catalogue_entry
from course_checks.deciding.find import find

from .judging.mark import ExerciseResult
from .limits import Limits
from .running.kernel import Kernel
from .running.room import room
from .running.run import RunLog, run
from .submissions.rebuild import NotebookStep

LIBRARY = "course_utils."
LEFT_S = 1.0  # with less than that no other room is opened


def hidden_in(number: str) -> frozenset[str]:
    """The names of the library that an exercise puts off limits."""
    if catalogue_entry(number).is_quiz:
        return frozenset()
    return frozenset(name for name in find(number).call.off_limits if name.startswith(LIBRARY))


def run_in_rooms(
    steps: tuple[NotebookStep, ...],
    probes: dict[str, tuple[str, dict, bool]],
    limits: Limits,
    open_kernel: Callable[[float, Path], Kernel],
    judge: Callable[[RunLog, Collection[str]], list[ExerciseResult]],
) -> tuple[RunLog, list[ExerciseResult]]:
    """Run a rebuilt notebook, and judge it.

    Args:
        steps: The rebuilt notebook.
        probes: As for ``run``; where an exercise is not guarded, nothing is off limits in it.
        limits: The submission's limits, all its rooms together.
        open_kernel: Deadline and room -> a kernel, not yet started.
        judge: From what was observed to what the exercises of these numbers earn.
    """
    hidden = {number: hidden_in(number) if guarded else frozenset() for number, (_, _, guarded) in probes.items()}

    def one_room(names: frozenset[str], steps: tuple[NotebookStep, ...], seconds: float) -> RunLog:
        folder, within = room(names), replace(limits, notebook_s=seconds)
        return asyncio.run(run(steps, probes, within, lambda deadline: open_kernel(deadline, folder)))

    run_log = one_room(frozenset().union(*hidden.values()), steps, limits.notebook_s)
    results = {one.number: one for one in judge(run_log, probes)}
    for names in dict.fromkeys(hidden.values()):
        chosen = {
            one.number
            for one in results.values()
            if hidden[one.number] == names and _may_do_better(one, run_log, names)
        }
        if not chosen:
            continue
        left = limits.notebook_s - run_log.seconds
        if left > LEFT_S:
            later = one_room(names, _only(steps, chosen), left)
        else:
            later = RunLog(lost=dict.fromkeys(chosen, "notebook time limit"))
        _take_over(run_log, later, chosen)
        results |= {one.number: one for one in judge(run_log, chosen)}
    return run_log, list(results.values())


def _may_do_better(one: ExerciseResult, run_log: RunLog, names: frozenset[str]) -> bool:
    if one.outcome == "right" or catalogue_entry(one.number).is_quiz:
        return False
    if one.outcome == "not attempted" and find(one.number).call.expects != "value":
        return False  # an experiment's cell that was stopped leaves its dict empty, too
    stopped = any(error == "OffLimits" for error, _ in run_log.broken.values())
    return stopped or bool(run_log.hidden - names)


def _only(steps: tuple[NotebookStep, ...], numbers: set[str]) -> tuple[NotebookStep, ...]:
    return tuple(step for step in steps if step.role != "check" or step.number in numbers)


def _take_over(run_log: RunLog, later: RunLog, numbers: set[str]) -> None:
    """Put what was seen in a later room in the place of what was seen before."""
    for number in numbers:
        for before, after in ((run_log.seen, later.seen), (run_log.lost, later.lost), (run_log.broken, later.broken)):
            before.pop(number, None)
            if number in after:
                before[number] = after[number]
    run_log.events += [event for event in later.events if event not in run_log.events]
    run_log.seconds += later.seconds
