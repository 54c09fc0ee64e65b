"""Trusted work on what strangers wrote, in a process of its own that is ended when it takes too long or too much memory."""

import contextlib
import gc
import os
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from .limits import MIB

SECONDS, MEMORY_MB = 10.0, 512
ALONE_S = 1.0  # how long a process works on after its time, should nobody be there to end it
CAN_FORK = sys.platform == "linux"


class LimitExceeded(Exception):
    """The work was ended; the message says why, for a person to read."""


def bounded(work: Callable[..., Any], *arguments: Any, seconds: float = SECONDS, memory_mb: int = MEMORY_MB) -> Any:
    """What ``work(*arguments)`` returns, done by a process that ends with it: see ``BoundedProcess.do``."""
    with contextlib.closing(BoundedProcess(memory_mb)) as process:
        return process.do(work, *arguments, seconds=seconds)


class BoundedProcess:
    """A copy of this process, made when there is work and again after one that ended; what it remembers serves later work.

    It works in whatever thread asks, for one thread at a time. Where processes cannot be forked (macOS, Windows) the work is
    done in this process, without bounds. ``memory_mb`` is the memory that it may take on top of what is there.
    """

    def __init__(self, memory_mb: int = MEMORY_MB) -> None:
        self.memory_mb = memory_mb
        self._pipe: Connection | None = None
        self.close: Callable[[], object] = lambda: None  # ends the process; done too when nobody holds this object

    def do(self, work: Callable[..., Any], *arguments: Any, seconds: float = SECONDS) -> Any:
        """What ``work(*arguments)`` returns or raises; ``LimitExceeded`` where it took too long or much, or its process ended.

        What it returns is pickled. Only the first work given to a process may be any function, with any arguments; later
        ones are pickled too.
        """
        if not CAN_FORK:
            return work(*arguments)
        asked = (work, arguments, seconds)
        found = None if self._pipe is None or self._pipe.closed else self._answer(asked, seconds)
        if found is None:  # also where it ended of what it did before
            self._fork(asked)
            found = self._answer(None, seconds)
        if found is None:
            why = f"reading or judging it took more than {self.memory_mb} MiB, or the process that did it ended"
            raise LimitExceeded(why)
        worked, outcome = found
        if worked:
            return outcome
        raise outcome

    def _answer(self, asked: tuple | None, seconds: float) -> tuple[bool, Any] | None:
        """Whether it worked, and what it returned or raised; None if the process ended."""
        try:
            if asked is not None:
                self._pipe.send(asked)
            if self._pipe.poll(seconds):
                return self._pipe.recv()
        except (EOFError, OSError):
            self.close()
            return None
        except BaseException:
            self.close()
            raise
        self.close()
        raise LimitExceeded(f"reading or judging it took longer than {seconds:g} s")

    def _fork(self, first: tuple) -> None:
        with _ctrl_c_held_back():
            self._pipe, theirs = Pipe()
            child = os.fork()
            if child == 0:
                try:
                    self._pipe.close()
                    _serve(theirs, self.memory_mb, first)
                finally:
                    os._exit(1)
            theirs.close()
            self.close = weakref.finalize(self, _end, child, self._pipe, os.getpid())


def own_process() -> BoundedProcess:
    """The bounded process of the thread that asks, kept from one submission to the next."""
    if not hasattr(_of_thread, "process"):
        _of_thread.process = BoundedProcess()
    return _of_thread.process


_of_thread = threading.local()


@contextlib.contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """A Ctrl-C of meanwhile is heard afterward. In what Python calls at a fork it would be lost: errors are ignored there."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


def _end(child: int, pipe: Connection, owner: int) -> None:
    if os.getpid() == owner:  # not in a copy of its owner
        pipe.close()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _serve(pipe: Connection, memory_mb: int, asked: tuple) -> None:
    """In the child: one work after another, until the other end of the pipe is closed or memory is short."""
    import resource

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked hears it, and ends this process
    gc.freeze()
    gc.disable()  # looking through millions of small objects for cycles takes longer than making them
    with open("/proc/self/statm") as file:
        present = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (present + memory_mb * MIB,) * 2)
    while True:
        work, arguments, seconds = asked
        signal.setitimer(signal.ITIMER_REAL, seconds + ALONE_S)
        try:
            outcome = True, work(*arguments)
        except MemoryError:
            return
        except Exception as problem:
            outcome = False, problem
        pipe.send(outcome)
        signal.setitimer(signal.ITIMER_REAL, 0)
        del asked, arguments, outcome
        gc.collect()
        asked = pipe.recv()
