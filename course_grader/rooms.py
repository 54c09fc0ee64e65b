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

from .judging.mark import Marked
from .limits import Limits
from .running.kernel import Kernel
from .running.room import room
from .running.run import Trace, run
from .submissions.rebuild import Step

LIBRARY = "course_utils."
LEFT_S = 1.0  # with less than that no other room is opened


def hidden_in(number: str) -> frozenset[str]:
    """The names of the library that an exercise puts off limits."""
    if catalogue_entry(number).is_quiz:
        return frozenset()
    return frozenset(name for name in find(number).call.off_limits if name.startswith(LIBRARY))


def run_in_rooms(
    steps: tuple[Step, ...],
    probes: dict[str, tuple[str, dict, bool]],
    limits: Limits,
    open_kernel: Callable[[float, Path], Kernel],
    judge: Callable[[Trace, Collection[str]], list[Marked]],
) -> tuple[Trace, list[Marked]]:
    """Run a rebuilt notebook, and judge it.

    Args:
        steps: The rebuilt notebook.
        probes: As for ``run``; where an exercise is not guarded, nothing is off limits in it.
        limits: The submission's limits, all its rooms together.
        open_kernel: Deadline and room -> a kernel, not yet started.
        judge: From what was observed to what the exercises of these numbers earn.
    """
    hidden = {number: hidden_in(number) if guarded else frozenset() for number, (_, _, guarded) in probes.items()}

    def one_room(names: frozenset[str], steps: tuple[Step, ...], seconds: float) -> Trace:
        folder, within = room(names), replace(limits, notebook_s=seconds)
        return asyncio.run(run(steps, probes, within, lambda deadline: open_kernel(deadline, folder)))

    trace = one_room(frozenset().union(*hidden.values()), steps, limits.notebook_s)
    marked = {one.number: one for one in judge(trace, probes)}
    for names in dict.fromkeys(hidden.values()):
        chosen = {
            one.number for one in marked.values() if hidden[one.number] == names and _may_do_better(one, trace, names)
        }
        if not chosen:
            continue
        left = limits.notebook_s - trace.seconds
        if left > LEFT_S:
            later = one_room(names, _only(steps, chosen), left)
        else:
            later = Trace(lost=dict.fromkeys(chosen, "notebook time limit"))
        _take_over(trace, later, chosen)
        marked |= {one.number: one for one in judge(trace, chosen)}
    return trace, list(marked.values())


def _may_do_better(one: Marked, trace: Trace, names: frozenset[str]) -> bool:
    if one.outcome == "right" or catalogue_entry(one.number).is_quiz:
        return False
    if one.outcome == "not attempted" and find(one.number).call.expects != "value":
        return False  # an experiment's cell that was stopped leaves its dict empty, too
    stopped = any(error == "OffLimits" for error, _ in trace.broken.values())
    return stopped or bool(trace.hidden - names)


def _only(steps: tuple[Step, ...], numbers: set[str]) -> tuple[Step, ...]:
    return tuple(step for step in steps if step.role != "probe" or step.number in numbers)


def _take_over(trace: Trace, later: Trace, numbers: set[str]) -> None:
    """Put what was seen in a later room in the place of what was seen before."""
    for number in numbers:
        for before, after in ((trace.seen, later.seen), (trace.lost, later.lost), (trace.broken, later.broken)):
            before.pop(number, None)
            if number in after:
                before[number] = after[number]
    trace.events += [event for event in later.events if event not in trace.events]
    trace.seconds += later.seconds
