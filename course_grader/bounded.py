"""Trusted work on what strangers wrote, in a process of its own that is ended when it takes too long or too much memory."""

import contextlib
import gc
import os
import pickle
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from .limits import MIB

SECONDS, MEMORY_MB = 10.0, 512
AGAIN_S = 1.0
CAN_FORK = sys.platform == "linux"


class LimitExceeded(Exception):
    """The work was ended; the message says why, for a person to read."""


def bounded(work: Callable[..., Any], *arguments: Any, seconds: float = SECONDS, memory_mb: int = MEMORY_MB) -> Any:
    """What ``work(*arguments)`` returns.

    Where processes cannot be forked (macOS, Windows) it is done in this one, without bounds.

    Args:
        work: A function of the grader's own; it returns what can be pickled, or raises.
        arguments: For it.
        seconds: How long it may take.
        memory_mb: MiB of memory that it may take on top of what is there.

    Raises:
        LimitExceeded: It took longer or more, or its process ended.
        Exception: What ``work`` raised.
    """
    if not CAN_FORK:
        return work(*arguments)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            _in_the_child(writing, seconds, memory_mb, work, arguments)
        finally:
            os._exit(1)
    os.close(writing)
    try:
        data = _read(reading, seconds)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if data is None:
        raise LimitExceeded(f"reading or judging it took longer than {seconds:g} s")
    if not data:
        raise LimitExceeded(f"reading or judging it took more than {memory_mb} MiB, or the process that did it ended")
    worked, outcome = pickle.loads(data)
    if worked:
        return outcome
    raise outcome


@contextlib.contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """End what runs in the ``with`` block by an exception when it takes too long: for work that cannot be forked.

    It works in a process's main thread, where signals arrive, and does nothing elsewhere (nor on Windows). What is inside may
    be left half done. A bound within a bound ends with the earlier of the two.

    Args:
        seconds: How long it may take.

    Raises:
        LimitExceeded: It took longer.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:
        raise LimitExceeded(f"reading or judging it took longer than {seconds:g} s")

    started, outer = time.monotonic(), signal.getitimer(signal.ITIMER_REAL)[0]
    if 0 < outer <= seconds:  # the bound around this one ends first
        yield
        return
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_S)  # again, should somebody inside have caught the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, outer - (time.monotonic() - started)), AGAIN_S)


def _in_the_child(writing: int, seconds: float, memory_mb: int, work: Callable, arguments: tuple) -> None:
    import resource

    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + AGAIN_S)  # should its parent be gone by then
    gc.disable()  # looking through millions of small objects for cycles takes longer than making them
    with open("/proc/self/statm") as file:
        present = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (present + memory_mb * MIB,) * 2)
    try:
        data = pickle.dumps((True, work(*arguments)))
    except MemoryError:
        return
    except Exception as problem:
        data = pickle.dumps((False, problem))
    with os.fdopen(writing, "wb") as file:
        file.write(data)
    os._exit(0)


def _read(reading: int, seconds: float) -> bytes | None:
    """Everything until the other end is closed; None if that takes too long."""
    parts, end = [], time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            return None
        part = os.read(reading, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
