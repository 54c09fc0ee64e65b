"""Symptoms that reproduce an answer from what is right: the same numbers moved, scaled, or put through one function more."""

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ..wrong_answer import Diagnosis, Part, WrongAnswer, apart, close, part_of, symptom
from .masks import MASKS, inverted, turned
from .scales import constant_factor
from .sequences import other_ends
from .side_effects import less_exact, other_dtype

MOST_PARTS = 5  # of more, the orders are not tried
SAME_NUMBERS = {"squeezed", "an axis too many", "an axis is missing"}  # a match of these is never chance


class Transform(NamedTuple):
    """What was done to the right value: name, how it is done, one sentence (``{}`` is the part's name), what to try."""

    name: str
    apply: Callable[[Tensor], Tensor]
    looks_like: str
    advice: str


def parts_in_another_order(answer: WrongAnswer) -> Diagnosis | None:
    """The returned parts are exchanged, or one of them was returned alone."""
    names = answer.exercise.returns
    if len(names) < 2 or not answer.returned_everywhere():
        return None
    for order in itertools.permutations(range(len(names))) if len(names) <= MOST_PARTS else ():
        if order != tuple(range(len(names))) and all(_is_reordered(answer, index, order) for index in answer.wrong):
            listed = ", ".join(names[place] for place in order)
            return symptom(
                f"the right results in another order: {listed}.",
                f"return {', '.join(names)}.",
                "parts in another order",
            )
    for place, name in enumerate(names):
        if all(_is_alone(answer, index, place) for index in answer.wrong):
            return symptom(f"only `{name}` is returned.", f"return all of {', '.join(names)}.", "one part alone")
    return None


def _is_reordered(answer: WrongAnswer, index: int, order: tuple[int, ...]) -> bool:
    expected, actual = answer.expected[index]["value"], answer.observed[index]["value"]
    count = len(order)
    return all(
        answer.same_part(part_of(expected, source, count), part_of(actual, place, count))
        for place, source in enumerate(order)
    )


def _is_alone(answer: WrongAnswer, index: int, place: int) -> bool:
    expected, actual = answer.expected[index]["value"], answer.observed[index]["value"]
    return answer.same_part(part_of(expected, place, len(answer.exercise.returns)), part_of(actual, 0, 1))


def transformed(answer: WrongAnswer) -> Diagnosis | None:
    """A returned part is what is right, put through one more operation."""
    for part in answer.parts():
        sides = part.numbers()
        if sides is None:
            continue
        shows = apart(answer, sides)
        tells = any(is_telling(expected, actual) for expected, actual, pair in sides if pair.wrong)
        for transform in _transforms(part, sides[0][0].dim(), sides[0][1].dim()):
            if not tells and transform.name not in SAME_NUMBERS:
                continue
            if shows and all(_fits(answer, transform, expected, actual) for expected, actual, _ in sides):
                sentence = transform.looks_like.format(f"`{part.name}`")
                return symptom(sentence, transform.advice, transform.name)
    return None


def is_telling(expected: Tensor, actual: Tensor) -> bool:
    """Whether both are rich enough that a match cannot be chance: all zeros are also the rounded right values."""
    finite = expected[expected.isfinite()]
    return finite.unique().numel() >= 3 and (actual.numel() == 1 or actual.unique().numel() > 1)


def _fits(answer: WrongAnswer, transform: Transform, expected: Tensor, actual: Tensor) -> bool:
    try:
        return close(answer, actual, transform.apply(expected))
    except (RuntimeError, IndexError):
        return False


def _transforms(part: Part, dim: int, actual_dim: int) -> Iterator[Transform]:
    axes = range(-dim, 0)
    if actual_dim == dim:
        for i, j in itertools.combinations(axes, 2):
            yield Transform(
                "axes exchanged",
                lambda t, i=i, j=j: t.transpose(i, j),
                f"{{}} is right but for two axes that are exchanged: {i} and {j}.",
                f"write down which axis is which; .transpose({i}, {j}) exchanges these two.",
            )
            yield Transform(
                "reshaped instead of transposed",
                lambda t, i=i, j=j: t.transpose(i, j).reshape(t.shape),
                f"{{}} has the right shape, but its numbers stand in another order: as if axes {i} and {j} had been exchanged "
                "and then put into this shape by reshape or view.",
                "reshape keeps the order of the numbers; to exchange two axes use transpose, then nothing else.",
            )
        for axis in axes:
            yield Transform(
                "reversed",
                lambda t, axis=axis: t.flip(axis),
                f"{{}} is right but reversed along axis {axis}.",
                "check the direction: which end is the first position?",
            )
            yield Transform(
                "softmax once more",
                lambda t, axis=axis: t.softmax(axis),
                f"{{}} is the right result put through a softmax over axis {axis} once more.",
                "take the softmax once.",
            )
        yield from _ELEMENTWISE
    else:
        yield from _other_number_of_axes(dim)


def _other_number_of_axes(dim: int) -> Iterator[Transform]:
    yield Transform(
        "squeezed",
        torch.squeeze,
        "the numbers of {} are right, but axes of size 1 are missing: never made, or taken by squeeze() or an index.",
        "make all axes that the task names, with x[:, None] or keepdim=True; tell squeeze which axis it may take.",
    )
    for axis in range(-dim - 1, dim + 1):
        yield Transform(
            "an axis too many",
            lambda t, axis=axis: t.unsqueeze(axis),
            f"{{}} has an axis of size 1 too many, at place {axis}; its numbers are right.",
            "leave out keepdim=True or unsqueeze, or take the axis away with squeeze.",
        )
    for axis in range(-dim, 0):
        yield Transform(
            "an axis is missing",
            lambda t, axis=axis: t.squeeze(axis),
            f"in {{}} axis {axis} is missing, whose size is 1; the numbers are right.",
            "keep the axis: keepdim=True, or x[:, None].",
        )
        for name, reduce in (("sum", torch.sum), ("mean", torch.mean)):
            yield Transform(
                f"{name} over an axis",
                lambda t, axis=axis, reduce=reduce: reduce(t, axis),
                f"{{}} was reduced once too often: it is the {name} of the right result over axis {axis}.",
                f"leave axis {axis} in.",
            )


_ELEMENTWISE = [
    Transform(name, apply, sentence, advice)
    for name, apply, sentence, advice in (
        ("negative", torch.neg, "{} has the right size and the wrong sign.", "check the sign."),
        ("squared", torch.square, "{} is the square of what is right.", "is a square root missing?"),
        ("root", torch.sqrt, "{} is the square root of what is right.", "leave out the root."),
        ("exponential", torch.exp, "{} is the exponential of what is right.", "leave out exp, or take the logarithm."),
        ("logarithm", torch.log, "{} is the logarithm of what is right.", "use exp, or leave log out."),
        ("one minus", lambda t: 1 - t, "{} is 1 minus what is right.", "which of the two shares is asked for?"),
        ("never negative", torch.relu, "{} is right, but 0 in place of negatives.", "leave out clamp, relu or max."),
        *(
            (f"rounded to {n}", lambda t, n=n: t.round(decimals=n), "{} is rounded.", "leave the rounding out.")
            for n in range(5)
        ),
    )
]

FORMS = (parts_in_another_order, other_dtype, inverted, turned)
EXACT = (
    parts_in_another_order,
    other_dtype,
    less_exact,
    transformed,
    constant_factor,
    *MASKS,
    other_ends,
)
