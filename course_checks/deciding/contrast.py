"""In which cases an answer is wrong, against those in which it is right: a fact first, a cause only with good reason.

An exercise gives a case a label because it was made for one mistake: where the wrong cases are those with a label, that is
told. What can be seen in any case (an argument that is None, an axis of size 1) is told only where at least two cases have
it and at least two have not, and as what the wrong cases share.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from .wrong_answer import Diagnosis, WrongAnswer

LARGE = 30.0  # of scores and other numbers that go through exp
ADVICE = "take the arguments of a case that fails, failing_case(), and go through your code with them."


def by_labels(answer: WrongAnswer) -> Diagnosis | None:
    """Wrong just where the exercise's labels say why."""
    sentence = labelled_cases(answer)
    if not sentence:
        return None
    return Diagnosis(
        "contrast", sentence.rstrip("."), f"right in {_right_cases(answer)} of the check. {sentence}", ADVICE
    )


def by_what_is_shared(answer: WrongAnswer) -> Diagnosis | None:
    """What the wrong cases share that no label says; None where nothing tells them from the right ones."""
    shared = _shared(answer)
    if not shared:
        return None
    sentence = f"right in {_right_cases(answer)} of the check, wrong in {len(answer.wrong)}, and in these {shared}."
    return Diagnosis("contrast", f"wrong where {shared}", sentence, ADVICE)


def labelled_cases(answer: WrongAnswer) -> str:
    """One sentence that names the wrong cases by the exercise's own labels; empty where these don't tell them apart."""
    wrong = set(answer.wrong)
    having: dict[str, set[int]] = {}
    for index, case in enumerate(answer.cases):
        for label in case.labels:
            having.setdefault(label, set()).add(index)
    if len(wrong) == len(answer.failing):
        return ""
    for label, indices in having.items():
        if indices == wrong:
            return f"It is wrong {_where(label, wrong)}."
    labels: list[str] = []
    covered: set[int] = set()
    for label in sorted((label for label in having if having[label] <= wrong), key=lambda label: -len(having[label])):
        if not having[label] <= covered:
            labels.append(label)
            covered |= having[label]
    if covered != wrong or not labels:
        return ""
    return f"It is wrong where {', and where '.join(labels[:3])}{', and elsewhere' * (len(labels) > 3)}."


def _where(label: str, wrong: set[int]) -> str:
    return f"in one case alone, where {label}" if len(wrong) == 1 else f"just where {label}"


def _right_cases(answer: WrongAnswer) -> str:
    count = len(answer.failing) - len(answer.wrong)
    return f"{count} case{'' if count == 1 else 's'}"


def _shared(answer: WrongAnswer) -> str:
    """What all wrong cases have and no right one has, or the other way round, with two cases at least on each side."""
    wrong = set(answer.wrong)
    right = set(range(len(answer.failing))) - wrong
    if min(len(wrong), len(right)) < 2:
        return ""
    having: dict[tuple[str, str], set[int]] = {}
    for index, case in enumerate(answer.cases):
        for pair in _seen_in(case):
            having.setdefault(pair, set()).add(index)
    for (label, _), indices in having.items():
        if indices == wrong:
            return label
    return next((opposite for (_, opposite), indices in having.items() if indices == right), "")


def _seen_in(case: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(label, its opposite) of one case."""
    for name, value in case.items():
        if value is None:
            yield f"`{name}` is None", f"`{name}` is given"
        else:  # before anything of the value itself, which a case without it cannot have
            yield f"`{name}` is given", f"`{name}` is None"
        if isinstance(value, bool):
            yield f"`{name}` is {value}", f"`{name}` is {not value}"
        elif isinstance(value, int | float):
            for number in (0, 1):
                if value == number:
                    yield f"`{name}` is {number}", f"`{name}` is not {number}"
        elif isinstance(value, Tensor):
            yield from _tensor_labels(name, value)
        elif isinstance(value, list | str | dict):
            if not value:
                yield f"`{name}` is empty", f"`{name}` is not empty"
            if len(value) == 1:
                yield f"`{name}` has one item", f"`{name}` has more or less than one item"
    tensors = [(name, value) for name, value in case.items() if isinstance(value, Tensor) and value.dim() > 1]
    for (first, a), (second, b) in itertools.combinations(tensors, 2):
        for axis in (-1, -2):
            if a.shape[axis] == b.shape[axis]:
                text = f"`{first}.shape[{axis}]` and `{second}.shape[{axis}]`"
                yield f"{text} are equal", f"{text} differ"


def _tensor_labels(name: str, value: Tensor) -> Iterator[tuple[str, str]]:
    for axis in range(-min(value.dim(), 3), 0):
        if value.shape[axis] == 1:
            yield f"`{name}.shape[{axis}]` is 1", f"`{name}.shape[{axis}]` is larger than 1"
    if value.dim() > 2 and value.shape[0] == 1:
        yield f"`{name}` has a batch of one", f"`{name}` has a batch of several"
    if value.numel() and value.dtype == torch.bool:
        if value.dim() and (~value).all(-1).any():
            yield f"a row of `{name}` is False throughout", f"every row of `{name}` has a True"
    elif value.numel() and value.is_floating_point() and value.abs().max() > LARGE:
        yield f"`{name}` has large entries (above {LARGE:g} or below -{LARGE:g})", f"`{name}` has no large entry"
