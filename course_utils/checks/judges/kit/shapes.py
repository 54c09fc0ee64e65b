"""What goes wrong with shapes in many answers."""

import re

import torch

from ..exercise import Fault
from ..symptoms.view import Told

TIED = re.compile(
    r"subscript (\w) has size (\d+) for operand \d which does not broadcast with previously seen size (\d+)"
)

UNEQUAL = re.compile(
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)"
)


def same(value):
    """A step that leaves everything as it is."""
    return value


SQUEEZED = Fault(
    "squeezed",
    "a squeeze takes away every axis of size 1: also the batch, or what else may be 1 by chance.",
    "leave squeeze() out; where an axis must go, name it: squeeze(-1).",
    finish=torch.Tensor.squeeze,
)


def one_letter_for_two_axes(view):
    """Symptom: einsum was told that two axes are one, and they differ in size."""
    stopped = [view.cases[index]["message"] for index in view.wrong if view.cases[index]["outcome"] == "raised"]
    if not stopped or not all(TIED.search(message) for message in stopped):
        return None
    letter, one, other = TIED.search(stopped[0]).groups()
    said = f"in your einsum the letter {letter} stands for two axes that differ in size, {other} and {one}."
    return Told(
        "symptom", "one letter for two axes", said, "name every axis: only those that belong together share a letter."
    )


def without_new_axes(queries, keys, axis=-2):
    """Symptom: an axis of queries meets one of keys entry by entry; named are the arguments with these axes."""

    def symptom(view):
        stopped = [index for index in view.wrong if view.cases[index]["outcome"] == "raised"]
        if not stopped or not all(_meet(view, index, queries, keys, axis) for index in stopped):
            return None
        said = "query i meets key i only, entry by entry: without new axes that needs as many queries as keys."
        advice = (
            "give each an axis of its own: one new axis behind the queries (unsqueeze, or None), one before the keys."
        )
        return Told("symptom", "without new axes", said, advice)

    return symptom


def _meet(view, index, queries, keys, axis):
    found = UNEQUAL.search(view.cases[index]["message"])
    one, other = (view.inputs[index][name].shape for name in (queries, keys))
    return (
        found and {*map(int, found.groups()[:2])} == {one[axis], other[axis]} and int(found.group(3)) == len(one) + axis
    )
