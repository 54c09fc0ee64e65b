"""An answer that may take so many operations and no more: who loops over what should be one operation is stopped."""

import functools
import os
import sys
import sysconfig
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import _push_mode

import course_utils

from .dispatch import DispatchWatch

STEPS, CALLS = 5, 4  # steps of Python for each operation that is allowed; calls within libraries for each step
LIBRARIES = tuple(
    os.path.abspath(folder) + os.sep
    for folder in (
        os.path.dirname(os.path.dirname(torch.__file__)),
        os.path.dirname(course_utils.__file__),
        *(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")),
    )
)
CHECKS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOT_COUNTED = ("<frozen", *(folder + os.sep for folder in (os.path.dirname(os.path.abspath(torch.__file__)), CHECKS)))


@functools.cache
def _place(file: str) -> str:
    """Whose code a file holds; PyTorch's operations are counted, so its Python is not, nor are the checks."""
    return "not counted" if file.startswith(NOT_COUNTED) else "library" if file.startswith(LIBRARIES) else "own"


class Counting(DispatchWatch):
    """While it is entered, an answer takes ``most`` operations of PyTorch and 5 times as many steps of Python at most.

    A step is a line or a call of the answer's own code, also one that works with numpy or lists; four calls within a
    library are one too. What is too many raises a RuntimeError that says ``too_many``: at once in an operation or in a
    line of the answer's own, at the end where a library or a thread took them, since these may hold a lock.
    """

    def __init__(self, most: int, too_many: str) -> None:
        super().__init__()
        self.operations, self.steps, self.too_many = most, STEPS * most, too_many
        self.importing = 0

    def __enter__(self) -> "Counting":
        """Begin to count."""
        self.tracers, self.thread = (sys.gettrace(), threading.gettrace()), threading.get_ident()
        super().__enter__()
        threading.settrace(self._begin_in_thread)
        sys.settrace(self._step)
        return self

    def __exit__(self, kind: type | None, *problem: object) -> None:
        """Put back what was there; say so if there was too much and nobody was told, or the answer did not listen."""
        sys.settrace(self.tracers[0])
        threading.settrace(self.tracers[1])
        super().__exit__(kind, *problem)
        if kind is None:
            self._stop()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.operations -= 1
        if self.operations < 0:
            self._stop()
        return func(*args, **(kwargs or {}))

    def _begin_in_thread(self, *event: Any) -> Callable | None:
        _push_mode(self)  # a mode belongs to one thread; this one ends with it
        sys.settrace(self._step)
        return self._step(*event)

    def _step(self, frame: Any, event: str, _: Any) -> Callable | None:
        """What Python calls at each call, and at each line of a function for which this returned itself."""
        place = _place(frame.f_code.co_filename)
        if place == "not counted":
            if frame.f_code.co_name != "_find_and_load":
                return None
            self.importing += 1  # what a module does while it is imported is not counted
            return self._until_imported
        if self.importing:
            return None
        if place == "library":
            self.steps -= 1 / CALLS
            return None
        if event in ("call", "line"):
            self.steps -= 1
            if self.steps < 0:
                self._stop()
        return self._step

    def _until_imported(self, frame: Any, event: str, _: Any) -> Callable:
        self.importing -= event == "return"
        return self._until_imported

    def _stop(self) -> None:
        if min(self.operations, self.steps) < 0 and threading.get_ident() == self.thread:
            raise RuntimeError(self.too_many)


def counted(function: Callable[..., Any], most: int, name: str) -> Callable[..., Any]:
    """A function of the check's that an answer calls, which raises a RuntimeError at call number ``most + 1``.

    Args:
        function: What the answer is given.
        most: How often an answer can need it.
        name: What the task calls it.
    """
    calls = 0

    def call(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls > most:
            raise RuntimeError(f"{name} was called more than {most} times: what stops your loop?")
        return function(*args, **kwargs)

    return call
