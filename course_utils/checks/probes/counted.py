"""An answer that may take so many operations and no more: who loops over what should be one operation is stopped."""

from collections.abc import Callable
from typing import Any

from .dispatch import DispatchWatch
from .probe import call_in_order


def call_counted(most: int, said: str) -> Callable[[Any, dict[str, Any]], Any]:
    """As ``call_in_order``, but after ``most`` operations of PyTorch the answer raises ``said``.

    A case may hold a number and a sentence of its own, ``_most`` and ``_said``.
    """

    def call(answer: Any, case: dict[str, Any]) -> Any:
        with _Counted(case.get("_most", most), case.get("_said", said)):
            return call_in_order(answer, case)

    return call


class _Counted(DispatchWatch):
    def __init__(self, most: int, said: str) -> None:
        super().__init__()
        self.left, self.said = most, said

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.left -= 1
        if self.left < 0:
            raise RuntimeError(self.said)
        return func(*args, **(kwargs or {}))
