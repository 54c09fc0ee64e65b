"""One wrong answer's observations beside what is right, which symptoms look at, and what they say of it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..running.call import Case
from ..running.encode import Tree
from .compare import NUMBERS, difference, value_difference

if TYPE_CHECKING:
    from .exercise import Exercise


@dataclass(frozen=True)
class Diagnosis:
    """Something that is true of an answer.

    Args:
        found_by: ``mistake``, ``symptom``, ``pair`` or ``contrast``; empty where nothing was found.
        name: What a report counts it under.
        looks_like: One sentence that says what the answer did.
        advice: One sentence that says what to try; empty: the exercise's own advice.
    """

    found_by: str
    name: str | None
    looks_like: str
    advice: str = ""

    def and_also(self, second: Diagnosis) -> Diagnosis:
        """Two things at once."""
        sentence = second.looks_like.replace("; its numbers are right", "")  # they are those of the first mistake
        both = f"two things at once: {self.looks_like.rstrip('.')}; and {sentence}"
        advice = " ".join(_as_sentence(text) for text in dict.fromkeys((self.advice, second.advice)) if text)
        return Diagnosis("pair", f"{self.name} + {second.name}", both, advice)


def _as_sentence(text: str) -> str:
    """With a capital, unless it begins with code, such as ``x = x + y`` or ``dim=0``."""
    first, _, rest = text.partition(" ")
    is_word = first.isalpha() and any(letter.isalnum() for letter in rest.partition(" ")[0])
    return text[0].upper() + text[1:] if is_word else text


@dataclass(frozen=True)
class WrongAnswer:
    """One wrong answer.

    Args:
        exercise: The exercise.
        cases: The cases.
        expected: What is right in each case, as observed (of a mistake, where it is compared with that).
        observed: What the answer did in each case.
        failing: Whether it is wrong there.
    """

    exercise: Exercise
    cases: Sequence[Case]
    expected: Sequence[Tree]
    observed: Sequence[Tree]
    failing: Sequence[bool]

    @property
    def wrong(self) -> list[int]:
        """Indices of the wrong cases."""
        return [index for index, wrong in enumerate(self.failing) if wrong]

    @functools.cached_property
    def order(self) -> list[int]:
        """Indices of all cases, the wrong ones first."""
        return sorted(range(len(self.observed)), key=lambda index: not self.failing[index])

    @property
    def first(self) -> int:
        """Index of the first wrong case."""
        return self.wrong[0]

    def beside(self, known: Sequence[Tree]) -> WrongAnswer:
        """The same answer compared with something else than what is right."""
        return dataclasses.replace(self, expected=known)

    def only(self, indices: list[int]) -> WrongAnswer:
        """The same answer in some of the cases."""
        sides = ([side[i] for i in indices] for side in (self.cases, self.expected, self.observed, self.failing))
        return WrongAnswer(self.exercise, *sides)

    def returned_everywhere(self) -> bool:
        """Whether both returned a value in every case that is wrong."""
        return all(self.expected[i]["outcome"] == self.observed[i]["outcome"] == "returned" for i in self.wrong)

    def values_are_right(self) -> bool:
        """Whether every case returned the right value, so that what is wrong lies beside it."""
        return self.returned_everywhere() and not any(self.differs(i) for i in self.wrong)

    def differs(self, index: int) -> bool:
        """Whether the value of one case differs."""
        return value_difference(self.exercise, self.expected[index]["value"], self.observed[index]["value"]) is not None

    def same_part(self, expected: Tree | None, actual: Tree | None) -> bool:
        """Whether one returned part is right; None is no part."""
        if expected is None or actual is None:
            return False
        return difference(expected, actual, ("",), self.exercise.rtol, self.exercise.atol) is None

    def is_rich(self) -> bool:
        """Whether what it returned in the wrong cases is too much for a match to be chance: numbers, or different things."""
        values = [self.observed[i]["value"] for i in self.wrong if self.observed[i]["outcome"] == "returned"]
        tensors = (numbers for value in values if (numbers := as_numbers(value)) is not None)
        return len({str(value) for value in values}) > 1 or any(map(is_varied, tensors))

    def parts(self) -> list[Part]:
        """The returned parts in which something is wrong, each over all cases that returned; none if they do not match."""
        names = self.exercise.returns
        wrong_parts = []
        for place, name in enumerate(names):
            pairs = []
            for index in self.order:
                expected, actual = self.expected[index], self.observed[index]
                if expected["outcome"] != "returned" or actual["outcome"] != "returned":
                    continue
                sides = [part_of(side["value"], place, len(names)) for side in (expected, actual)]
                if None in sides:
                    return []
                pairs.append(Pair(index, *sides, wrong=not self.same_part(*sides)))
            if any(pair.wrong for pair in pairs):
                wrong_parts.append(Part(name, pairs))
        return wrong_parts


@dataclass(frozen=True)
class Pair:
    """One returned part in one case: what is right beside what the answer gave, as trees."""

    index: int
    expected: Tree
    actual: Tree
    wrong: bool


@dataclass(frozen=True)
class Part:
    """One returned part in every case, the wrong cases first."""

    name: str
    pairs: list[Pair]

    def numbers(self) -> list[tuple[Tensor, Tensor, Pair]] | None:
        """Both sides as float64 tensors (``expected``, ``actual``); None if some value is not numbers."""
        sides = [(as_numbers(pair.expected), as_numbers(pair.actual), pair) for pair in self.pairs]
        return None if not sides or any(expected is None or actual is None for expected, actual, _ in sides) else sides


Symptom = Callable[[WrongAnswer], Diagnosis | None]


def symptom(looks_like: str, advice: str = "", name: str = "") -> Diagnosis:
    """What can be seen in an answer; a report counts it under its own sentence where it has no name."""
    return Diagnosis("symptom", name or looks_like.rstrip("."), looks_like, advice)


def stops_with(words: str | tuple[str, ...], looks_like: str, advice: str, name: str = "") -> Symptom:
    """A symptom: the first wrong case ends in an error whose message holds these words, or one of these."""
    some = (words,) if isinstance(words, str) else words

    def stops(answer: WrongAnswer) -> Diagnosis | None:
        seen = answer.observed[answer.first]
        stopped = seen["outcome"] == "raised" and any(text in seen["message"] for text in some)
        return symptom(looks_like, advice, name) if stopped else None

    return stops


def part_of(value: Tree, place: int, count: int) -> Tree | None:
    """One of ``count`` returned parts; None if that many were not returned."""
    if count == 1:
        whole = value["kind"] in ("tuple", "list") and len(value["value"]) == 1
        return value["value"][0] if whole and value["kind"] == "tuple" else value
    if value["kind"] not in ("tuple", "list") or len(value["value"]) != count:
        return None
    return value["value"][place]


def as_numbers(tree: Tree) -> Tensor | None:
    """A value as a float64 tensor: tensors, arrays, numbers, and lists of numbers that make a rectangle."""
    kind, value = tree["kind"], tree.get("value")
    if kind in ("tensor", "array"):
        return None if value is None or value.is_complex() else value.double()
    if kind in NUMBERS:
        return torch.tensor(float(value), dtype=torch.float64)
    if kind in ("list", "tuple") and value:
        if all(item["kind"] in NUMBERS for item in value):
            return torch.tensor([float(item["value"]) for item in value], dtype=torch.float64)
        items = [as_numbers(item) for item in value]
        if all(item is not None for item in items) and len({item.shape for item in items}) == 1:
            return torch.stack(items)
    return None


def is_varied(numbers: Tensor) -> bool:
    """Whether there are three different numbers at least, so that a match is no chance; a meta device holds none."""
    return not numbers.is_meta and numbers.unique().numel() > 2


def close(answer: WrongAnswer, left: Tensor, right: Tensor) -> bool:
    """Whether two tensors are the same within the exercise's tolerance."""
    exercise = answer.exercise
    return left.shape == right.shape and torch.allclose(
        left, right, rtol=exercise.rtol, atol=exercise.atol, equal_nan=True
    )


def apart(answer: WrongAnswer, sides: list[tuple[Tensor, Tensor, Pair]]) -> bool:
    """Whether some are further apart than the tolerance, and not only by what the tight one on float64 finds."""
    return any(not close(answer, actual, expected) for expected, actual, _ in sides)
