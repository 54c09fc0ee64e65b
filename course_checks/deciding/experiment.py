"""Open experiments: the student's own numbers are held against what must hold of them, and by what was read off from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..catalogue import CatalogueEntry
from ..running.encode import Tree, decode
from .exercise import Entry
from .verdict import Verdict


@dataclass(frozen=True)
class Claim:
    """One thing that must hold of the numbers.

    Args:
        name: Short, unique within the experiment.
        problem: From the student's dict to None, or to one sentence about these numbers. If it raises a KeyError, the
            entry is missing; on a TypeError, ValueError or IndexError it is told that the entries are of another form.
        advice: One sentence that says what to try.
    """

    name: str
    problem: Callable[[dict], str | None]
    advice: str


@dataclass(frozen=True)
class Experiment(Entry):
    """One open experiment; the answer is a dict with what was measured and what was read off.

    Args:
        claims: What must hold, in the order in which it is told: first that everything is there, then that the numbers
            are possible, then that what was read off follows from them.
    """

    claims: tuple[Claim, ...]
    entry: CatalogueEntry | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        names = [claim.name for claim in self.claims]
        if double := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"two claims are called {', '.join(sorted(double))}")


def decide_experiment(experiment: Experiment, observations: Tree) -> Verdict:
    """The verdict on the numbers of one experiment, from data alone: the first claim that does not hold is told."""

    def verdict(passed: bool = False, **parts: Any) -> Verdict:
        return Verdict(experiment.number, experiment.points, passed, **parts)

    value = observations.get("value", {"kind": "none"})
    if observations["answer"] == "missing" or (value["kind"] == "dict" and not value["value"]):
        advice = f"Fill {experiment.entry.answer} in its cell, run that cell, then this one."
        return verdict(attempted=False, what="Nothing is measured yet.", advice=advice)
    if value["kind"] != "dict":
        what = f"check needs your results as a dict; it got {_a_kind(value)}."
        advice = f'hand over the dict itself, check("{experiment.number}", {experiment.entry.answer}).'
        return verdict(what=what, advice=advice)
    results = decode(value)
    for claim in experiment.claims:
        try:
            problem = claim.problem(results)
        except KeyError as missing:
            problem = f"{experiment.entry.answer}[{missing.args[0]!r}] is missing."
        except (TypeError, ValueError, IndexError, AttributeError):
            problem = f"some entries of {experiment.entry.answer} are not of the form that the task names."
        if problem:
            return verdict(mistake=claim.name, found_by="mistake", what=problem, advice=claim.advice)
    return verdict(passed=True)


def _a_kind(value: Tree) -> str:
    return f"an object of type {value['type']}" if value["kind"] == "other" else f"a {value['kind']}"
