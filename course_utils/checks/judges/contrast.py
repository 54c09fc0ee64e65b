"""In which cases an answer is wrong, against those in which it is right: the label that tells them apart."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ..probes.probe import visible
from .symptoms.view import Told, View

OF_VALUES = re.compile(r"holds |negative|large entries|is odd|larger than 1$|is False throughout|has a False")
LARGE = 30.0  # of scores and other numbers that go through exp


def contrast(view: View, of_values: bool = True) -> Told | None:
    """The one label that just the wrong cases have, or just the right ones; None if no label tells them apart.

    A label about the numbers themselves (a sign, a zero) can fit one case by chance: it takes two on each side.
    ``of_values=False``: no such label at all, as where shapes are the trouble.
    """
    right = [index for index, wrong in enumerate(view.failing) if not wrong]
    if not right:
        return None
    labels = labels_of(view.inputs)
    wrong = set(view.wrong)
    if not of_values or min(len(right), len(wrong)) < 2:
        labels = {label: found for label, found in labels.items() if not OF_VALUES.search(label)}
    told = [label for label, (cases, _) in labels.items() if cases == wrong]
    opposite = [without for cases, without in labels.values() if without and cases == set(right)]
    given = [label for label in opposite if label.endswith(" is given")]
    told = [*given, *told, *opposite]
    return _told(view, right, told[0]) if told else _several(view, right, wrong)


def only_in_its_case(view: View) -> Told | None:
    """The label of the one wrong case, before anything that is said of single values: for a case made for one mistake."""
    return contrast(view) if len(view.wrong) == 1 and view.inputs[view.first].labels else None


def _several(view: View, right: list[int], wrong: set[int]) -> Told | None:
    """Some of an exercise's own labels that together have just the wrong cases; of many the first two."""
    own = {label for index in wrong for label in getattr(view.inputs[index], "labels", ())}
    cases = {label: of for label, (of, _) in labels_of(view.inputs).items() if label in own and of <= wrong}
    told: list[str] = []
    for label in sorted(cases, key=lambda label: (-len(cases[label]), min(cases[label]))):
        if not cases[label] <= set().union(*(cases[other] for other in told)):
            told.append(label)
    if set().union(*cases.values()) != wrong:
        return None
    if len(told) > 3:
        some = f"for example where {told[0]}, and where {told[1]}"
        said = f"right in {len(right)} cases of the check, wrong in {len(wrong)}: {some}."
        return Told(
            "contrast", "wrong where several", said, "failing_case() hands you the arguments of the first of them."
        )
    return _told(view, right, ", and where ".join(told))


def labels_of(inputs: list[dict[str, Any]]) -> dict[str, tuple[set[int], str]]:
    """Label -> the cases that have it, and what the other cases are called; an exercise's own labels come first."""
    found: dict[str, tuple[set[int], str]] = {}
    for index, case in enumerate(inputs):
        for label in getattr(case, "labels", ()):
            found.setdefault(label, (set(), ""))[0].add(index)
    seen = [
        (index, label, opposite) for index, case in enumerate(inputs) for label, opposite in _seen_in(visible(case))
    ]
    for index, label, opposite in sorted(seen, key=lambda one: not one[1].endswith(" is None")):
        found.setdefault(label, (set(), opposite))[0].add(index)
    return found


def _told(view: View, right: list[int], label: str) -> Told:
    wrong = set(view.wrong)
    cases = f"{len(right)} case{'' if len(right) == 1 else 's'}"
    said = f"right in {cases} of the check, wrong in {len(wrong)}: just where {label}."
    advice = f"think through what your code does where {label}; failing_case() hands you the arguments."
    own = set().union(*(getattr(view.inputs[index], "labels", ()) for index in wrong))
    if len(wrong) == 1 and label.split(", and where ")[0] not in own:  # one case has more than one thing of its own
        advice = (
            f"think through what your code does where {label}, and what else that one case has of its own (sizes, large or "
            "small numbers): failing_case() hands you its arguments."
        )
    return Told("contrast", f"wrong where {label}", said, advice)


def _seen_in(case: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(label, its opposite) of one case."""
    for name, value in case.items():
        if value is None:
            yield f"`{name}` is None", f"`{name}` is given"
        elif isinstance(value, bool):
            yield f"`{name}` is {value}", f"`{name}` is {not value}"
        elif isinstance(value, int | float):
            yield from _number_labels(name, value)
        elif isinstance(value, Tensor):
            yield from _tensor_labels(name, value)
        elif isinstance(value, list | str | dict):
            kind = "text" if isinstance(value, str) else type(value).__name__
            if not value:
                yield f"`{name}` is empty", f"`{name}` is not empty"
            if len(value) == 1:
                yield f"`{name}` has one item", f"`{name}` has more or less than one item"
            if isinstance(value, list | str) and len({repr(item) for item in value}) < len(value):
                yield f"the {kind} `{name}` holds something twice", f"the {kind} `{name}` holds nothing twice"
    tensors = [(name, value) for name, value in case.items() if isinstance(value, Tensor)]
    for (one, a), (other, b) in itertools.combinations(tensors, 2):
        if a.shape == b.shape:
            yield f"`{one}` and `{other}` have the same shape", f"`{one}` and `{other}` have different shapes"
        for i, j in ((-1, -1), (-2, -2)):
            if min(a.dim(), b.dim()) >= -i and a.shape[i] == b.shape[j]:
                text = f"`{one}.shape[{i}]` and `{other}.shape[{j}]`"
                yield f"{text} are equal", f"{text} differ"
    numbers = [(n, v) for n, v in case.items() if isinstance(v, int) and not isinstance(v, bool)]
    for (one, a), (other, b) in itertools.combinations(numbers, 2):
        if a == b:
            yield f"`{one}` and `{other}` are equal", f"`{one}` and `{other}` differ"


def _number_labels(name: str, value: float) -> Iterator[tuple[str, str]]:
    if value == 0:
        yield f"`{name}` is 0", f"`{name}` is not 0"
    if value == 1:
        yield f"`{name}` is 1", f"`{name}` is not 1"
    if value < 0:
        yield f"`{name}` is negative", f"`{name}` is not negative"
    if isinstance(value, int):
        if value % 2:
            yield f"`{name}` is odd", f"`{name}` is even"
    elif value > 1:
        yield f"`{name}` is larger than 1", f"`{name}` is at most 1"


def _tensor_labels(name: str, value: Tensor) -> Iterator[tuple[str, str]]:
    dtype = str(value.dtype).removeprefix("torch.")
    yield f"`{name}` has dtype {dtype}", ""
    yield f"`{name}` has {value.dim()} ax{'i' if value.dim() == 1 else 'e'}s", ""
    for axis in range(-min(value.dim(), 3), 0):
        if value.shape[axis] == 1:
            yield f"`{name}.shape[{axis}]` is 1", f"`{name}.shape[{axis}]` is larger than 1"
    if value.dim() > 1 and value.shape[-1] == value.shape[-2]:
        yield f"`{name}` is square", f"`{name}` is not square"
    if value.dim() > 2 and value.shape[0] == 1:
        yield f"`{name}` has a batch of one", f"`{name}` has a batch of several"
    if value.numel() and value.dtype == torch.bool:
        if not value.all():
            yield f"`{name}` has a False", f"`{name}` is True everywhere"
        if value.dim() and (~value).all(-1).any():
            yield f"a row of `{name}` is False throughout", f"every row of `{name}` has a True"
    elif value.numel():
        if (value == 0).any():
            yield f"`{name}` holds a 0", f"`{name}` holds no 0"
        if (value < 0).any():
            yield f"`{name}` has negative entries", f"`{name}` has no negative entry"
        if value.is_floating_point() and value.abs().max() > LARGE:
            yield f"`{name}` has large entries (above {LARGE:g} or below -{LARGE:g})", f"`{name}` has no large entry"
