"""How an exercise's answer is called and watched: what a probe must know, and nothing of what is right."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

VALUES_ONLY = "_values_only"  # a case that holds this name is not asked for gradients


def call_in_order(answer: Callable, arguments: dict[str, Any]) -> Any:
    """The ordinary way to call an answer: arguments by position, so that a student may name them freely."""
    return answer(*visible(arguments).values())


def visible(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a student knows: those whose name begins with ``_`` are the check's own."""
    return {name: value for name, value in arguments.items() if not name.startswith("_")}


def carried(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a probe gets: those whose name begins with ``__`` say what is right, and stay with the judge."""
    return {name: value for name, value in arguments.items() if not name.startswith("__")}


def call_turned(answer: Callable, arguments: dict[str, Any]) -> Any:
    """As ``call_in_order``, but ``x`` comes from a transpose where the case holds ``_turned``: not contiguous in memory."""
    given = visible(arguments)
    if "_turned" in arguments:
        given["x"] = given["x"].transpose(1, 2).contiguous().transpose(1, 2)
    return answer(*given.values())


@dataclass(frozen=True)
class Probe:
    """How one exercise's answer is probed.

    Args:
        call: How the answer is called on one case; returns plain values.
        expects: What the answer must be: ``"function"``, ``"class"``, or ``"value"`` for what is noted and not called.
        off_limits: Dotted names that must not be called, such as ``"torch.softmax"``.
        gradients: True: called once more on each case, to note the gradient that reaches every floating-point argument
            (of a dict: every such entry) from a fixed weighted sum of all floating-point tensors in what is returned.
        hands_out: From a case to what ``failing_case`` hands to the student, where a case stands for something else.
        again: Whether every case is called a second time, the last one first: an answer must not remember.
    """

    call: Callable[[Any, dict[str, Any]], Any] = call_in_order
    expects: str = "function"
    off_limits: tuple[str, ...] = ()
    gradients: bool = False
    hands_out: Callable[[dict[str, Any]], dict[str, Any]] = visible
    again: bool = True
