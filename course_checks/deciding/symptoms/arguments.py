"""Answers that are right for other arguments: two exchanged, one ignored, inverted, transposed.

Each change is tried on the solution: what is told is that the same comes out.
"""

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...running.call import Case
from ..wrong_answer import Diagnosis, WrongAnswer, symptom


class Change(NamedTuple):
    """Another set of arguments for a case (None where it cannot be made), and what to tell if it reproduces an answer."""

    of: Callable[[Case], Case | None]
    diagnosis: Diagnosis


def changed_arguments(answer: WrongAnswer) -> Iterator[Change]:
    """The changes that can be made to these cases, the likeliest first."""
    names = list(answer.cases[0])
    for name in names:
        for sentence, advice, replace in _replacements(answer, name):

            def of(case: Case, name: str = name, replace: Callable = replace) -> Case | None:
                value = replace(case[name])
                return None if value is _CANNOT else _with(case, {name: value})

            yield _change(sentence[0], of, sentence[1].format(f"`{name}`"), advice)
    for name, another in itertools.combinations(names, 2):
        if _alike(answer, name, another):
            sentence = f"yours is the right result if `{name}` and `{another}` are exchanged."
            yield _change(
                "arguments exchanged", lambda c, a=name, b=another: _with(c, {a: c[b], b: c[a]}), sentence, _WHICH
            )
    for name, another in itertools.permutations(names, 2):
        if _alike(answer, name, another):
            sentence = (
                f"yours is the right result if `{name}` stands where `{another}` should: "
                f"`{another}` plays no part of its own."
            )
            yield _change(
                "one argument for another", lambda c, a=name, b=another: _with(c, {b: c[a]}), sentence, _WHICH
            )


_WHICH = "go through your code and ask of each argument whether it stands where the task has it."
_USE = "find the step of the task that uses it."
_CANNOT = object()


def _change(name: str, of: Callable[[Case], Case | None], sentence: str, advice: str) -> Change:
    return Change(of, symptom(sentence, advice, name))


def _with(case: Case, changed: dict[str, Any]) -> Case:
    again = copy.copy(case)
    again.update(changed)
    return again


def _alike(answer: WrongAnswer, name: str, another: str) -> bool:
    """Whether two arguments are of one kind in every case, and not the same in all."""
    pairs = [(case[name], case[another]) for case in answer.cases if name in case and another in case]
    kinds = all(type(a) is type(b) and not isinstance(a, bool | None) for a, b in pairs)
    tensors = all(not isinstance(a, Tensor) or (a.dim() == b.dim() and a.dtype == b.dtype) for a, b in pairs if kinds)
    return bool(pairs) and kinds and tensors


def _replacements(answer: WrongAnswer, name: str) -> Iterator[tuple[tuple[str, str], str, Callable[[Any], Any]]]:
    values = [case.get(name) for case in answer.cases]
    if any(value is None for value in values) and any(value is not None for value in values):
        yield (
            ("argument ignored", "yours is the right result if {} is left out in every case: it plays no part."),
            _USE,
            _none,
        )
    present = [value for value in values if value is not None]
    if not present:
        return
    value = present[0]
    if isinstance(value, bool):
        for constant in (True, False):
            sentence = f"yours is the right result if {{}} is {constant} in every case."
            yield ("flag ignored", sentence), _USE, lambda v, constant=constant: constant
        yield (
            ("flag turned", "yours is the right result if {} is turned round, True for False."),
            "turn the condition.",
            _not,
        )
    elif isinstance(value, int | float):
        yield from _NUMBERS
    elif isinstance(value, Tensor):
        yield from _BOOLEANS if value.dtype == torch.bool else _TENSORS


def _none(value: Any) -> Any:
    return None


def _not(value: Any) -> Any:
    return value if value is None else not value


def _number(sentence: str, apply: Callable) -> tuple:
    words = ("another number", f"yours is the right result for {sentence}.")
    return words, "write out the smallest failing case by hand, and look at where this number stands.", _numeric(apply)


def _numeric(apply: Callable) -> Callable:
    def replace(value: Any) -> Any:
        try:
            return None if value is None else apply(value)
        except (ArithmeticError, ValueError):
            return _CANNOT

    return replace


_NUMBERS = (
    _number("{} + 1", lambda v: v + 1),
    _number("{} - 1", lambda v: v - 1),
    _number("{} = 0: it plays no part", lambda v: type(v)(0)),
    _number("{} = 1: it plays no part", lambda v: type(v)(1)),
    _number("2 * {}", lambda v: 2 * v),
    _number("half of {}", lambda v: v // 2 if isinstance(v, int) else v / 2),
    _number("-{}", lambda v: -v),
    _number("1 / {}", lambda v: 1 / v),
    _number("1 - {}", lambda v: 1 - v),
    _number("the square of {}", lambda v: v * v),
    _number("the root of {}", lambda v: v**0.5),
)


def _tensor(name: str, sentence: str, apply: Callable, advice: str = _USE) -> tuple:
    return (name, f"yours is the right result if {sentence}."), advice, lambda v: v if v is None else apply(v)


def _mapped(apply: Callable[[Tensor], Tensor], needs: int = 1) -> Callable[[Tensor], Any]:
    return lambda value: apply(value) if value.dim() >= needs else _CANNOT


_BOOLEANS = (
    _tensor("mask ignored", "{} is True everywhere: it plays no part", torch.ones_like),
    _tensor("mask inverted", "{} is inverted", torch.logical_not, "read once more what True means."),
    _tensor("mask turned", "the last two axes of {} are exchanged", _mapped(lambda t: t.mT, 2), _WHICH),
    _tensor(
        "one mask for the whole batch",
        "the first item's {} holds for the whole batch",
        _mapped(lambda t: t[:1].expand_as(t), 2),
        "keep the batch axis of the mask to the end.",
    ),
)
_TENSORS = (
    _tensor("argument ignored", "{} is all zeros: it plays no part", torch.zeros_like),
    _tensor("argument ignored", "{} is all ones: it plays no part", torch.ones_like),
    _tensor("argument turned", "the last two axes of {} are exchanged", _mapped(lambda t: t.mT, 2), _WHICH),
    _tensor("argument negated", "{} has the other sign", torch.neg, "check the signs."),
    _tensor(
        "one item for the whole batch",
        "the first item of {} stands for the whole batch",
        _mapped(lambda t: t[:1].expand_as(t), 2),
        "keep the batch axis: no [0], and no sum or mean over it.",
    ),
)
