"""What an exercise's file says: the cases, what is right and of which parts it is made, what goes wrong and how it is told."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..catalogue import Listed
from ..probes import probe_of
from ..probes.codec import Tree, decode, encode
from ..probes.probe import VALUES_ONLY, Probe

if TYPE_CHECKING:
    from .symptoms.view import Symptom


class Case(dict):
    """The arguments of one call by name, and labels for what is special about them.

    Args:
        labels: What a student would call this case: ``"with a mask"``, ``"ties"``. Where an answer is wrong in just the
            cases with one label, the message says so. Sizes, None, flags and dtypes are labelled without being asked for.
        values_only: True: no gradients are compared in this case.
        arguments: Argument name -> plain value (tensors, numbers, strings, lists, dicts). A name that begins with ``_`` is
            the check's own: a student never sees it, and only a probe's own ``call`` receives it. One that begins with ``__``
            says what is right: in the class grader it never reaches the student's kernel (``probe.carried``).
    """

    def __init__(self, *labels: str, values_only: bool = False, **arguments: Any) -> None:
        super().__init__(arguments)
        if values_only:
            self[VALUES_ONLY] = True
        self.labels = labels

    def __reduce__(self):
        return _case_again, (self.labels, dict(self))


def _case_again(labels: tuple[str, ...], arguments: dict[str, Any]) -> Case:
    return Case(*labels, **arguments)


class Fault:
    """A known mistake: a part of the reference replaced by what students write there.

    Args:
        name: Short, unique within the exercise.
        looks_like: One sentence to the student that says what the answer did.
        advice: One sentence that says what to try.
        whole: In place of parts: the wrong answer itself, where it cannot be said as a part.
        parts: Part name -> what stands in its place. Faults of different parts are tried together too.
    """

    def __init__(self, name: str, looks_like: str, advice: str, whole: Callable | None = None, **parts: Any) -> None:
        if (whole is None) == (not parts):
            raise ValueError(f"fault {name!r}: give parts or whole, one of the two")
        self.name, self.looks_like, self.advice, self.whole, self.parts = name, looks_like, advice, whole, parts


class Entry:
    """What coding exercises, quizzes and experiments have in common: what the catalogue says, in ``listed``."""

    listed: Listed | None

    @property
    def number(self) -> str:
        """Such as ``"5.2"``."""
        return self.listed.number

    @property
    def title(self) -> str:
        """As in the notebook's heading."""
        return self.listed.title

    @property
    def points(self) -> int:
        """What it is worth."""
        return self.listed.points


@dataclass(frozen=True)
class Exercise(Entry):
    """One coding exercise.

    Args:
        answer: What the notebook calls the answer; number, title and points follow from it (``catalogue``).
        cases: Seed -> cases, the smallest first. Sizes differ from one another, so that a swapped axis shows.
        reference: The right answer. Its keyword-only parameters are its parts. Where the answer is a class: a function of
            the parts alone that makes the class.
        returns: Names of the returned parts, in order, for the messages.
        faults: Known mistakes.
        advice: What to try when nothing more special can be said.
        symptoms: What can be seen in answers to this exercise only; tried before the general symptoms.
        rtol: Relative tolerance on floating-point values (on float64 tensors at most 1e-9).
        atol: Absolute tolerance on floating-point values (on float64 tensors at most 1e-10).
        notes: From a case and what was returned, as plain data, to what is compared in its place, where more than one
            answer is right. It runs beside the judge, so that a student's kernel does not know what it looks at.
        tries: How many pairs of faults are tried at most on a wrong answer (and a fifth as many changed arguments, a
            quarter as many faults with a symptom); fewer where one try builds a model.
    """

    answer: str
    cases: Callable[[int], list[Case]]
    reference: Callable
    returns: tuple[str, ...]
    faults: tuple[Fault, ...]
    advice: str
    symptoms: tuple[Symptom, ...] = ()
    rtol: float = 1e-4
    atol: float = 1e-5
    notes: Callable[[dict[str, Any], Any], Any] | None = None
    tries: int = 400
    listed: Listed | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        names = [fault.name for fault in self.faults]
        if double := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"{self.answer}: two faults are called {', '.join(sorted(double))}")

    @functools.cached_property
    def probe(self) -> Probe:
        """How answers are called."""
        return probe_of(self.number)

    def with_parts(self, **parts: Any) -> Callable:
        """The reference with some of its parts replaced."""
        if self.probe.expects == "class":
            return self.reference(**parts)
        return functools.partial(self.reference, **parts) if parts else self.reference

    def noted(self, case: dict[str, Any], seen: Tree) -> Tree:
        """What was observed in a case, with what is compared in the place of what was returned."""
        if self.notes is None or seen["outcome"] != "returned":
            return seen
        found = {**seen, "value": encode(self.notes(case, decode(seen["value"])))}
        if "kind" in found.get("again", ()):
            found["again"] = encode(self.notes(case, decode(found["again"])))
            if found["again"] == found["value"]:
                del found["again"]
        return found

    def with_faults(self, *faults: Fault) -> Callable:
        """The wrong answer that these faults make together."""
        if faults[0].whole is not None:
            return faults[0].whole
        return self.with_parts(**{part: value for fault in faults for part, value in fault.parts.items()})


@dataclass(frozen=True)
class Quiz(Entry):
    """One quiz question, answered by a letter; its options stand in the exercise source.

    Args:
        right: The letter of the right option.
        explanations: Letter -> why this option is right or wrong.
    """

    right: str
    explanations: dict[str, str] = field(hash=False)
    listed: Listed | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        if self.right not in self.explanations:
            raise ValueError(f"a quiz's right letter ({self.right!r}) is not one of {', '.join(self.explanations)}")
