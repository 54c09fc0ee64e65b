"""Where two observed values differ, said in one sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..running.encode import Tree

if TYPE_CHECKING:
    from .exercise import Exercise

NUMBERS = ("int", "float", "bool")
MENDS = {
    "array": "make it a tensor with torch.from_numpy",
    "list": "torch.tensor (of numbers) or torch.stack (of tensors) makes it one",
}


@dataclass(frozen=True)
class Difference:
    """The first difference found: which returned part, what about it, and the two values where there are two."""

    where: str
    what: str
    yours: str = ""
    expected: str = ""

    def sentence(self, show_expected: bool = True) -> str:
        """One line. ``show_expected=False`` keeps the right value back, for feedback after grading."""
        values = ""
        if self.yours:
            values = f": yours {self.yours}"
            if show_expected and self.expected:
                values += f", expected {self.expected}"
        return f"{self.where}: {self.what}{values}"


def case_difference(exercise: Exercise, expected: Tree, actual: Tree) -> Difference | None:
    """The first thing in which one case differs from what is right: value, arguments changed, second call, gradients.

    Args:
        exercise: The exercise.
        expected: The case as the solution was observed.
        actual: The case as the answer was observed.
    """
    if actual["outcome"] != "returned":
        if expected["outcome"] == actual["outcome"] and expected["type"] == actual["type"]:
            return None
        where = f"your code stopped at {actual['line']}" if actual.get("line") else "your code stopped"
        return Difference(where, f"{actual['type']}: {actual['message'] or 'no message'}")
    if expected["outcome"] != "returned":
        return Difference("returned", f"a value, where a {expected['type']} was expected: {expected['message']}")
    if differs := value_difference(exercise, expected["value"], actual["value"]):
        return differs
    if actual["changed"]:
        return Difference(
            ", ".join(actual["changed"]), "your code changed its input in place; compute new tensors instead"
        )
    return _second_call(exercise, expected, actual) or _gradients_differ(exercise, expected, actual)


def value_difference(exercise: Exercise, expected: Tree, actual: Tree) -> Difference | None:
    """The first difference between two returned values, within the exercise's tolerances."""
    return difference(expected, actual, exercise.returns, exercise.rtol, exercise.atol)


def _second_call(exercise: Exercise, expected: Tree, actual: Tree) -> Difference | None:
    again = actual.get("again")
    if not again:
        return None
    if "kind" not in again:
        return Difference(
            "called once more with the same arguments, your code stopped", f"{again['type']}: {again['message']}"
        )
    differs = value_difference(exercise, expected["value"], again)
    return differs and Difference(
        f"called once more with the same arguments, {differs.where}", differs.what, differs.yours, differs.expected
    )


def _gradients_differ(exercise: Exercise, expected: Tree, actual: Tree) -> Difference | None:
    if "gradients" not in expected or expected["gradients"]["kind"] != "dict":
        return None
    noted = actual.get("gradients", {"kind": "none"})
    if noted["kind"] != "dict":
        reason = noted.get("value", "none")
        reason = "no gradient reaches them" if reason == "none" else f"your code stops, {reason}"
        names = ", ".join(key["value"] for key, _ in expected["gradients"]["value"])
        return Difference("the values are right, but with inputs that require gradients", f"{reason} ({names})")
    gradients = {key["value"]: value for key, value in noted["value"]}
    for key, value in expected["gradients"]["value"]:
        name, reached = key["value"], gradients.get(key["value"], {"kind": "none"})
        if value["kind"] == reached["kind"] == "none":
            continue
        where = f"gradient of {name}"
        if reached["kind"] == "none":
            zero = value["kind"] == "tensor" and value["value"] is not None and not value["value"].any()
            if not zero:
                return Difference(where, "the values are right, but no gradient reaches this argument")
        elif value["kind"] == "none":
            if reached["value"] is not None and reached["value"].any():
                return Difference(where, "a gradient reaches this argument, where none should")
        elif differs := _compare(value, reached, where, exercise.rtol, exercise.atol * 10):
            return differs
    return None


def difference(expected: Tree, actual: Tree, names: tuple[str, ...], rtol: float, atol: float) -> Difference | None:
    """The first difference between two encoded values, or None.

    Args:
        expected: What is right, encoded.
        actual: What the answer returned, encoded.
        names: What the returned parts are called.
        rtol: Relative tolerance on floating-point values.
        atol: Absolute tolerance on floating-point values.
    """
    named = expected["kind"] in ("tuple", "list") and len(expected["value"]) == len(names)  # not so for some mistakes
    if named and len(names) > 1:
        if actual["kind"] not in ("tuple", "list"):
            return Difference("returned", f"{describe(actual)}; expected {len(names)} parts: {', '.join(names)}")
        if len(actual["value"]) != len(expected["value"]):
            return Difference("returned", f"{len(actual['value'])} parts; expected {len(names)}: {', '.join(names)}")
        for name, expected_part, actual_part in zip(names, expected["value"], actual["value"], strict=True):
            if differs := _compare(expected_part, actual_part, name, rtol, atol):
                return differs
        return None
    return _compare(expected, actual, names[0], rtol, atol)


def describe(tree: Tree) -> str:
    """What an encoded value is, in a few words: ``a tensor of shape (2, 5)``."""
    kind = tree["kind"]
    if kind in ("tensor", "array"):
        name = "a tensor" if kind == "tensor" else "a numpy array"
        return f"{name} of shape {tuple(tree['shape'])}"
    if kind == "none":
        return "None (is the return line missing?)"
    if kind in ("list", "tuple", "dict"):
        return f"a {kind} of {len(tree['value'])}"
    if kind == "other":
        return f"a {tree['type']} of {tree['length']}" if "length" in tree else f"an object of type {tree['type']}"
    return f"the {kind} {_short(tree)}"


def _compare(expected: Tree, actual: Tree, where: str, rtol: float, atol: float) -> Difference | None:
    if _is_number(expected) and _is_number(actual):
        if _close(_number(expected), _number(actual), rtol, atol):
            return None
        if {expected["kind"], actual["kind"]} == {"bool"}:
            return Difference(where, "the value differs", str(actual["value"]), str(expected["value"]))
        return Difference(where, "the value differs", *_figures(_number(actual), _number(expected)))
    if expected["kind"] in ("list", "tuple"):
        return _compare_sequence(expected, actual, where, rtol, atol)
    if expected["kind"] != actual["kind"]:
        kind = actual["type"] if "length" in actual else actual["kind"]
        mend = f"; {MENDS[kind]}" if expected["kind"] == "tensor" and kind in MENDS else ""
        return Difference(where, f"you returned {describe(actual)}, expected {_expected_kind(expected)}{mend}")
    if expected["kind"] == "tensor":
        return _compare_tensor(expected, actual, where, rtol, atol)
    if expected["kind"] == "dict":
        return _compare_dict(expected, actual, where, rtol, atol)
    if expected.get("value") != actual.get("value"):
        return Difference(where, "the value differs", _short(actual), _short(expected))
    return None


def _compare_sequence(expected: Tree, actual: Tree, where: str, rtol: float, atol: float) -> Difference | None:
    if actual["kind"] not in ("list", "tuple"):
        return Difference(where, f"you returned {describe(actual)}, expected {_expected_kind(expected)}")
    if len(actual["value"]) != len(expected["value"]):
        return Difference(where, f"it has {len(actual['value'])} items, expected {len(expected['value'])}")
    for index, (expected_item, actual_item) in enumerate(zip(expected["value"], actual["value"], strict=True)):
        if differs := _compare(expected_item, actual_item, f"{where}[{index}]", rtol, atol):
            return differs
    return None


def _compare_dict(expected: Tree, actual: Tree, where: str, rtol: float, atol: float) -> Difference | None:
    left = {_short(key): value for key, value in expected["value"]}
    right = {_short(key): value for key, value in actual["value"]}
    if left.keys() != right.keys():
        return Difference(where, "the keys differ", ", ".join(sorted(right)), ", ".join(sorted(left)))
    for key, value in left.items():
        if differs := _compare(value, right[key], f"{where}[{key}]", rtol, atol):
            return differs
    return None


def _compare_tensor(expected: Tree, actual: Tree, where: str, rtol: float, atol: float) -> Difference | None:
    if expected["shape"] != actual["shape"]:
        return Difference(where, "the shape differs", str(tuple(actual["shape"])), str(tuple(expected["shape"])))
    for part in ("dtype", "device"):
        if expected[part] != actual[part]:
            return Difference(where, f"the {part} differs", actual[part], expected[part])
    left, right = expected["value"], actual["value"]
    if left is not None and left.dtype == torch.float64:  # computed in float32 it would be further off
        rtol, atol = min(rtol, 1e-9), min(atol, 1e-10)
    if right is None:
        return Difference(where, "its values cannot be read (a sparse, very large or otherwise unusual tensor)")
    if left.dtype in (torch.float16, torch.bfloat16):  # a right way of computing it may round otherwise
        rtol, atol = max(rtol, 2 * torch.finfo(left.dtype).eps), max(atol, torch.finfo(left.dtype).eps)
    wrong = ~torch.isclose(right.double(), left.double(), rtol=rtol, atol=atol, equal_nan=True)
    if not wrong.any():
        return None
    first = wrong.nonzero()[0].tolist()
    yours, expected = _figures(*(tensor[tuple(first)].item() for tensor in (right, left)))
    at = f" at {first}" if first else ""
    nans = int((torch.isnan(right.double()) & ~torch.isnan(left.double())).sum())
    if nans:
        return Difference(where, f"NaN in {nans} of {right.numel()} values; first difference{at}", yours, expected)
    share = 100.0 * wrong.sum().item() / wrong.numel()
    share = f"{share:.0f}" if share >= 1 else "under 1"
    what = f"{share} % of the values differ; first{at}" if first else "the value differs"
    return Difference(where, what, yours, expected)


def _is_number(tree: Tree) -> bool:
    scalar = tree["kind"] in ("tensor", "array") and tree["shape"] == [] and tree["value"] is not None
    return tree["kind"] in NUMBERS or scalar


def _number(tree: Tree) -> float:
    value = tree["value"]
    return value.item() if isinstance(value, Tensor) else (int if tree["kind"] == "int" else float)(value)


def _close(expected: float, actual: float, rtol: float, atol: float) -> bool:
    if isinstance(expected, int) and isinstance(actual, int):
        return expected == actual
    try:
        expected, actual = float(expected), float(actual)
    except OverflowError:
        return False
    both_nan = math.isnan(expected) and math.isnan(actual)
    return both_nan or math.isclose(actual, expected, rel_tol=rtol, abs_tol=atol)


def _figures(yours: float, expected: float) -> tuple[str, str]:
    """Both values with as many digits as it takes to tell them apart, four at least."""
    for digits in range(4, 17):
        shown = _figure(yours, digits), _figure(expected, digits)
        if shown[0] != shown[1]:
            break
    return shown


def _figure(value: float, digits: int) -> str:
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    text = str(value)
    return text if len(text) <= 12 else f"{text[:9]}..."


def _expected_kind(tree: Tree) -> str:
    if tree["kind"] == "none":
        return "None"
    return "a number" if tree["kind"] in NUMBERS else describe(tree)


def _short(tree: Tree) -> str:
    value = tree.get("value")
    text = repr(value) if tree["kind"] == "str" else str(value) if tree["kind"] in NUMBERS else describe(tree)
    return text if len(text) <= 60 else text[:57] + "..."
