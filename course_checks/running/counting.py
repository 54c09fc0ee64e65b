"""An answer that may take so many operations and no more: who loops over what should be one operation is stopped."""

from collections.abc import Callable
from typing import Any

from .dispatch import DispatchWatch


class Counting(DispatchWatch):
    """While it is entered, the operation number ``most + 1`` of PyTorch raises a RuntimeError that says ``too_many``."""

    def __init__(self, most: int, too_many: str) -> None:
        super().__init__()
        self.left, self.too_many = most, too_many

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError(self.too_many)
        return func(*args, **(kwargs or {}))


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
