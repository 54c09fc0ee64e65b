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


def case_difference(exercise: Exercise, want: Tree, have: Tree) -> Difference | None:
    """The first thing in which one case differs from what is right: value, arguments changed, second call, gradients.

    Args:
        exercise: The exercise.
        want: The case as the solution was observed.
        have: The case as the answer was observed.
    """
    if have["outcome"] != "returned":
        if want["outcome"] == have["outcome"] and want["type"] == have["type"]:
            return None
        where = f"your code stopped at {have['line']}" if have.get("line") else "your code stopped"
        return Difference(where, f"{have['type']}: {have['message'] or 'no message'}")
    if want["outcome"] != "returned":
        return Difference("returned", f"a value, where a {want['type']} was expected: {want['message']}")
    if found := value_difference(exercise, want["value"], have["value"]):
        return found
    if have["changed"]:
        return Difference(
            ", ".join(have["changed"]), "your code changed its input in place; compute new tensors instead"
        )
    return _second_call(exercise, want, have) or _gradients_differ(exercise, want, have)


def value_difference(exercise: Exercise, want: Tree, have: Tree) -> Difference | None:
    """The first difference between two returned values, within the exercise's tolerances."""
    return difference(want, have, exercise.returns, exercise.rtol, exercise.atol)


def _second_call(exercise: Exercise, want: Tree, have: Tree) -> Difference | None:
    again = have.get("again")
    if not again:
        return None
    if "kind" not in again:
        return Difference(
            "called once more with the same arguments, your code stopped", f"{again['type']}: {again['message']}"
        )
    found = value_difference(exercise, want["value"], again)
    return found and Difference(
        f"called once more with the same arguments, {found.where}", found.what, found.yours, found.expected
    )


def _gradients_differ(exercise: Exercise, want: Tree, have: Tree) -> Difference | None:
    if "gradients" not in want or want["gradients"]["kind"] != "dict":
        return None
    found = have.get("gradients", {"kind": "none"})
    if found["kind"] != "dict":
        said = found.get("value", "none")
        said = "no gradient reaches them" if said == "none" else f"your code stops, {said}"
        names = ", ".join(key["value"] for key, _ in want["gradients"]["value"])
        return Difference("the values are right, but with inputs that require gradients", f"{said} ({names})")
    gradients = {key["value"]: value for key, value in found["value"]}
    for key, value in want["gradients"]["value"]:
        name, other = key["value"], gradients.get(key["value"], {"kind": "none"})
        if value["kind"] == other["kind"] == "none":
            continue
        where = f"gradient of {name}"
        if other["kind"] == "none":
            zero = value["kind"] == "tensor" and value["value"] is not None and not value["value"].any()
            if not zero:
                return Difference(where, "the values are right, but no gradient reaches this argument")
        elif value["kind"] == "none":
            if other["value"] is not None and other["value"].any():
                return Difference(where, "a gradient reaches this argument, where none should")
        elif found := _compare(value, other, where, exercise.rtol, exercise.atol * 10):
            return found
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
        for name, want, have in zip(names, expected["value"], actual["value"], strict=True):
            if found := _compare(want, have, name, rtol, atol):
                return found
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
        return f"an object of type {tree['type']}"
    return f"the {kind} {_short(tree)}"


def _compare(want: Tree, have: Tree, where: str, rtol: float, atol: float) -> Difference | None:
    if _is_number(want) and _is_number(have):
        if _close(_number(want), _number(have), rtol, atol):
            return None
        if {want["kind"], have["kind"]} == {"bool"}:
            return Difference(where, "the value differs", str(have["value"]), str(want["value"]))
        return Difference(where, "the value differs", *_figures(_number(have), _number(want)))
    if want["kind"] in ("list", "tuple"):
        return _compare_sequence(want, have, where, rtol, atol)
    if want["kind"] != have["kind"]:
        mend = f"; {MENDS[have['kind']]}" if want["kind"] == "tensor" and have["kind"] in MENDS else ""
        return Difference(where, f"you returned {describe(have)}, expected {_expected_kind(want)}{mend}")
    if want["kind"] == "tensor":
        return _compare_tensor(want, have, where, rtol, atol)
    if want["kind"] == "dict":
        return _compare_dict(want, have, where, rtol, atol)
    if want.get("value") != have.get("value"):
        return Difference(where, "the value differs", _short(have), _short(want))
    return None


def _compare_sequence(want: Tree, have: Tree, where: str, rtol: float, atol: float) -> Difference | None:
    if have["kind"] not in ("list", "tuple"):
        return Difference(where, f"you returned {describe(have)}, expected {_expected_kind(want)}")
    if len(have["value"]) != len(want["value"]):
        return Difference(where, f"it has {len(have['value'])} items, expected {len(want['value'])}")
    for index, (inner, other) in enumerate(zip(want["value"], have["value"], strict=True)):
        if found := _compare(inner, other, f"{where}[{index}]", rtol, atol):
            return found
    return None


def _compare_dict(want: Tree, have: Tree, where: str, rtol: float, atol: float) -> Difference | None:
    left = {_short(key): value for key, value in want["value"]}
    right = {_short(key): value for key, value in have["value"]}
    if left.keys() != right.keys():
        return Difference(where, "the keys differ", ", ".join(sorted(right)), ", ".join(sorted(left)))
    for key, value in left.items():
        if found := _compare(value, right[key], f"{where}[{key}]", rtol, atol):
            return found
    return None


def _compare_tensor(want: Tree, have: Tree, where: str, rtol: float, atol: float) -> Difference | None:
    if want["shape"] != have["shape"]:
        return Difference(where, "the shape differs", str(tuple(have["shape"])), str(tuple(want["shape"])))
    for part in ("dtype", "device"):
        if want[part] != have[part]:
            return Difference(where, f"the {part} differs", have[part], want[part])
    left, right = want["value"], have["value"]
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


def _close(want: float, have: float, rtol: float, atol: float) -> bool:
    if isinstance(want, int) and isinstance(have, int):
        return want == have
    try:
        want, have = float(want), float(have)
    except OverflowError:
        return False
    both_nan = math.isnan(want) and math.isnan(have)
    return both_nan or math.isclose(have, want, rel_tol=rtol, abs_tol=atol)


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
