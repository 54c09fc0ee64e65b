"""What a kernel sent, taken apart with suspicion: only the plain data that a probe makes gets through to a judge."""

import base64
import binascii
import re

import safetensors
import torch
from torch import Tensor

from course_checks.running.encode import CARRIED_DTYPES, MAX_DEPTH, Tree, unpack

from ..limits import MAX_JSON_VALUES

NUMBERS = {
    "int": re.compile(r"-?\d{1,3100}"),
    "float": re.compile(r"-?(inf|nan|\d{1,400}(\.\d{1,400})?(e[+-]?\d{1,4})?)"),
}
UNSIGNED = {getattr(torch, name) for name in ("uint16", "uint32", "uint64")}  # of numpy's arrays only
MAX_CASES = 1_000
DEEPEST = MAX_DEPTH + 1  # what lies deeper is described by its type
OUTCOMES = ("returned", "raised", "off limits")


class Malformed(ValueError):
    """Not what a probe sends."""


def decode_observations(payload: dict) -> Tree:
    """Observations from a kernel's message; ``Malformed`` is whatever a probe does not make."""
    text, data = payload.get("text"), payload.get("data")
    if not isinstance(text, str) or not isinstance(data, str):
        raise Malformed("no text or no data")
    _require(sum(map(text.count, "[{,")) <= MAX_JSON_VALUES, "too many parts")
    try:
        tree = unpack(text, base64.b64decode(data, validate=True))
    except (ValueError, TypeError, RuntimeError, binascii.Error, safetensors.SafetensorError) as problem:
        raise Malformed(str(problem)[:200]) from None
    try:
        _observations(tree)
    except (KeyError, AttributeError, TypeError, RecursionError) as problem:
        raise Malformed(type(problem).__name__) from None
    return tree


def _observations(tree: Tree) -> None:
    _require(isinstance(tree, dict) and isinstance(tree["answer"], str), "answer")
    if "cases" not in tree:
        _value(tree["value"], DEEPEST)
        return
    _require(isinstance(tree["type"], str) and isinstance(tree["cases"], list), "cases")
    _require(isinstance(tree.get("name", ""), str), "name")
    _require(len(tree["cases"]) <= MAX_CASES, "too many cases")
    for case in tree["cases"]:
        _require(isinstance(case, dict) and case["outcome"] in OUTCOMES, "outcome")
        names = case["changed"]
        _require(isinstance(names, list) and all(isinstance(name, str) for name in names), "changed")
        _require(isinstance(case.get("drew", False), bool), "drew")
        _beside(case)
        if case["outcome"] == "returned":
            _value(case["value"], DEEPEST)
        else:
            _require(all(isinstance(case[part], str) for part in ("type", "message")), "raised")
            _require(all(isinstance(case.get(part, ""), str) for part in ("line", "function")), "line")


def _beside(case: dict) -> None:
    """What a case holds beside its value: gradients, and what a second call gave."""
    if "gradients" in case:
        _value(case["gradients"], DEEPEST)
        pairs = case["gradients"]["value"] if case["gradients"]["kind"] == "dict" else []
        _require(all(key["kind"] == "str" for key, _ in pairs), "gradients")
    again = case.get("again")
    _require(again is None or isinstance(again, dict), "again")
    if again is not None and "kind" in again:
        _value(again, DEEPEST)
    elif again is not None:
        _require(all(isinstance(again[part], str) for part in ("type", "message")), "again")


def _value(tree: Tree, depth: int) -> None:
    _require(depth > 0 and isinstance(tree, dict), "too deep, or no value")
    kind, value = tree["kind"], tree.get("value")
    if kind in ("list", "tuple"):
        _require(isinstance(value, list), kind)
        for item in value:
            _value(item, depth - 1)
    elif kind == "dict":
        _require(isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value), kind)
        for pair in value:
            for part in pair:
                _value(part, depth - 1)
    elif kind in ("tensor", "array"):
        _require(all(isinstance(tree[part], str) for part in ("dtype", "device")), kind)
        _require(isinstance(tree["shape"], list) and all(type(size) is int for size in tree["shape"]), "shape")
        _require("value" in tree and (value is None or isinstance(value, Tensor)), kind)
        unsigned = UNSIGNED if kind == "array" else ()
        _require(value is None or value.dtype in CARRIED_DTYPES or value.dtype in unsigned, "dtype")
        _require(value is None or str(value.dtype).removeprefix("torch.") == tree["dtype"] or kind == "array", "dtype")
    elif kind in ("int", "float"):
        _require(isinstance(value, str) and NUMBERS[kind].fullmatch(value) is not None, kind)
    elif kind in ("str", "bool"):
        _require(type(value) is (str if kind == "str" else bool), kind)
    elif kind == "other":
        _require(isinstance(tree["type"], str) and type(tree.get("length", 0)) is int, kind)
    else:
        _require(kind == "none", "kind")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise Malformed(what)
