"""How much memory a computation takes while it runs, as the operating system sees it."""

import ctypes
import gc
import threading
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import psutil

Result = TypeVar("Result")
EVERY = 0.001  # seconds between two looks
try:
    _GIVE_BACK = ctypes.CDLL(None).malloc_trim  # glibc's; the grader looks at who loads libraries later
except (AttributeError, OSError, TypeError):
    _GIVE_BACK = None


class Measured(NamedTuple):
    """What a computation gave, and what it took.

    Args:
        result: What the function handed back.
        megabytes: By how much the process was larger than before, at its largest.
    """

    result: object
    megabytes: float


def peak_memory(function: Callable[[], Result]) -> Measured:
    """Call ``function``, and watch from a second thread how large the process gets.

    All of the process counts, what a library allocates in C++ too. Memory that the process had got earlier and reuses is not
    seen, nor what lives shorter than a millisecond. The number is a lower bound, good to a few megabytes.
    """
    gc.collect()
    _give_back()
    process = psutil.Process()
    before, done = process.memory_info().rss, threading.Event()
    sizes = [before]

    def watch() -> None:
        while not done.wait(EVERY):
            sizes[0] = max(sizes[0], process.memory_info().rss)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        result = function()
        sizes.append(process.memory_info().rss)
    finally:
        done.set()
        watching.join()
    return Measured(result, (max(sizes) - before) / 1e6)


def _give_back() -> None:
    """What was freed goes back to the system, where the C library can do that (glibc), so that using it again counts."""
    if _GIVE_BACK is not None:
        _GIVE_BACK(0)
