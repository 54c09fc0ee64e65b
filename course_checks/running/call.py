"""How an exercise's answer is called and watched: plain data, which the class grader sends along with the cases."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .counting import Counting


class Case(dict):
    """The arguments of one call by name, in order, and what else belongs to the call.

    Args:
        labels: What a student would call this case: ``"with a mask"``, ``"ties"``. Where an answer is wrong in just the
            cases with one label, the message says so.
        values_only: True: no gradients are compared in this case.
        driver: What only the exercise's driver receives: a seed, a small model's weights. No student sees it.
        deciding: What only deciding reads, since it says what is right. It never reaches a student's kernel.
        arguments: Argument name -> plain value (tensors, numbers, strings, lists, dicts).
    """

    def __init__(
        self,
        *labels: str,
        values_only: bool = False,
        driver: dict[str, Any] | None = None,
        deciding: dict[str, Any] | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(arguments)
        self.labels, self.values_only = labels, values_only
        self.driver, self.deciding = driver or {}, deciding or {}

    def sent(self) -> dict[str, Any]:
        """What reaches the student's kernel, as plain data."""
        return {"arguments": dict(self), "driver": self.driver, "values_only": self.values_only}

    @classmethod
    def received(cls, sent: dict[str, Any]) -> Case:
        """A case as it arrived there."""
        return cls(values_only=sent["values_only"], driver=sent["driver"], **sent["arguments"])


@dataclass(frozen=True)
class Call:
    """How one exercise's answer is called.

    Args:
        expects: What the answer must be: ``"function"``, ``"class"``, or ``"value"`` for what is noted and not called.
        driver: Where it is not called with the case's arguments by position: a function of ``running.drivers``, such as
            ``"lesson_07.drive_cache"``, from answer and case to what is noted.
        off_limits: Dotted names that must not be called, such as ``"torch.softmax"``.
        gradients: Called once more on each case, to note the gradient that reaches every floating-point argument
            (of a dict: every such entry) from a fixed weighted sum of all floating-point tensors in what is returned.
        twice: Every case is called a second time, the last one first: an answer must not remember.
        most_operations: After so many operations of PyTorch the answer is stopped; None: it may take as many as it likes.
            A case's ``driver`` may hold a number of its own under this name.
        too_many: What it is told then.
        in_pytorch: The driver counts what PyTorch does in the thread that calls. An answer may work elsewhere; the class
            grader shows it to a person then.
    """

    expects: str = "function"
    driver: str = ""
    off_limits: tuple[str, ...] = ()
    gradients: bool = False
    twice: bool = True
    most_operations: int | None = None
    too_many: str = ""
    in_pytorch: bool = False

    def sent(self) -> dict[str, Any]:
        """As plain data."""
        return dataclasses.asdict(self)

    @classmethod
    def received(cls, sent: dict[str, Any]) -> Call:
        """As it arrived in the student's kernel."""
        return cls(**{**sent, "off_limits": tuple(sent["off_limits"])})

    def prepare(self) -> None:
        """Import what calling the answer needs."""
        if self.driver:
            self._module()

    def on(self, answer: Callable, case: Case) -> Any:
        """Call the answer on one case."""
        most = case.driver.get("most_operations", self.most_operations)
        if most is not None:
            with Counting(most, case.driver.get("too_many", self.too_many)):
                return self._on(answer, case)
        return self._on(answer, case)

    def _on(self, answer: Callable, case: Case) -> Any:
        if self.driver:
            return self._function(self.driver.partition(".")[2])(answer, case)
        return answer(*case.values())

    def shown(self, case: Case) -> dict[str, Any]:
        """What ``failing_case`` hands to the student: the arguments; what stands for a function becomes that function.

        A driver's module says how in ``SHOWN``: name of the driver -> function of the case.
        """
        show = getattr(self._module(), "SHOWN", {}).get(self.driver.partition(".")[2]) if self.driver else None
        return show(case) if show else dict(case)

    def _function(self, name: str) -> Callable:
        return getattr(self._module(), name)

    def _module(self) -> ModuleType:
        return _driver_module(self.driver.partition(".")[0])


@functools.cache
def _driver_module(name: str) -> ModuleType:
    return importlib.import_module(f"{__package__}.drivers.{name}")
