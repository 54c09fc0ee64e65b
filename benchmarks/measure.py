"""Time and memory of callables. Times are medians; what is compared is run in turn, so that a busy machine slows both."""

import statistics
import time
from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, profile


def seconds(action: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def median(action: Callable[[], object], repeats: int) -> float:
    """Median wall time over ``repeats`` calls, after one that is not counted."""
    action()
    return statistics.median(seconds(action) for _ in range(repeats))


def in_turn(actions: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Wall times of several actions, run A B C A B C ..., after two rounds that are not counted."""
    rounds = [{name: seconds(action) for name, action in actions.items()} for _ in range(repeats + 2)][2:]
    return {name: [times[name] for times in rounds] for name in actions}


def ratio(times: dict[str, list[float]], ours: str, theirs: str) -> float:
    """Median of the ratios ours / theirs, round by round."""
    return statistics.median(a / b for a, b in zip(times[ours], times[theirs], strict=True))


def peak_bytes(action: Callable[[], object]) -> int:
    """The most memory that tensors made during one call held at the same time, by the profiler's allocation events."""
    action()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        action()
    held = peak = 0
    events = [event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def threads() -> str:
    """One line on what ran."""
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads"
