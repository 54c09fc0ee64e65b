"""What an answer did: the most specific thing that is true of it, from its observations alone.

Searched in this order: one known fault; a symptom that reproduces the answer exactly; two faults of different parts; a fault
and a symptom; a property that what is right has and the answer has not; the cases in which it is wrong against those in
which it is right. Whatever is told by name comes out of the reference by just that change, in every case of the check.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ..probes.codec import Tree
from ..probes.observe import observe_case
from .compare import difference, value_difference
from .contrast import contrast
from .exercise import Exercise, Fault
from .symptoms import EXACT, PLAIN, PROPERTIES, SIDE_EFFECTS, STOPS
from .symptoms.arguments import changed_arguments
from .symptoms.beside import changes_its_input, remembers
from .symptoms.view import Told, View

NOTHING = Told("", None, "", "")


class Explainer:
    """Explains any number of wrong answers to one exercise on one set of inputs.

    Args:
        exercise: The exercise.
        inputs: The cases.
        expected: What the reference did on each.
    """

    def __init__(self, exercise: Exercise, inputs: list[dict[str, Any]], expected: list[Tree]) -> None:
        self.exercise, self.inputs, self.expected = exercise, inputs, expected
        self._alone = [((fault,), self._lazy(exercise.with_faults(fault))) for fault in exercise.faults]
        self._together: dict[tuple[Fault, Fault], _Lazy] = {}

    def told(self, cases: list[Tree], failing: list[bool]) -> Told:
        """What to tell about an answer that is wrong in the ``failing`` cases."""
        view = View(self.exercise, self.inputs, self.expected, cases, failing)
        searches = (
            self._fault, self._own, self._stopped, self._beside, self._exactly, self._changed_arguments,
            self._pair, self._fault_beside, self._fault_and_symptom, remembers, changes_its_input,
            self._property, contrast,
        )  # fmt: skip
        return next((told for search in searches if (told := search(view))), NOTHING)

    def _lazy(self, answer: Callable) -> _Lazy:
        return _Lazy(answer, self.inputs, self.exercise)

    def _fault(self, view: View) -> Told | None:
        for faults, known in self._alone:
            if self._same(known, view):
                return _as_told("fault", faults)
        return None

    def _own(self, view: View) -> Told | None:
        return _first(self.exercise.symptoms, view)

    def _stopped(self, view: View) -> Told | None:
        told = _first(STOPS, view)
        if told is None:
            return None
        where = contrast(view, of_values=False)
        said = f"{told.looks_like} It is {where.name}." if where else told.looks_like
        return self._pair(view) or dataclasses.replace(told, looks_like=said)

    def _beside(self, view: View) -> Told | None:
        """The values are right in every case; what is wrong lies beside them."""
        return _first(SIDE_EFFECTS, view) if view.values_are_right() else None

    def _exactly(self, view: View) -> Told | None:
        return _first(EXACT, view)

    def _changed_arguments(self, view: View) -> Told | None:
        answer = self.exercise.with_parts()
        stopped = all(view.cases[i]["outcome"] == "raised" for i in view.wrong)  # any odd number may stop it so
        for change in itertools.islice(changed_arguments(view), self.exercise.tries // 5):
            cases = [change.of(case) for case in self.inputs]
            if None in cases or (stopped and change.told.name == "another number"):
                continue
            known = _Lazy(answer, cases, self.exercise)
            if self._same(known, view, values_only=True):
                return change.told
        return None

    def _pair(self, view: View) -> Told | None:
        for faults in itertools.islice(self._pairs(view), self.exercise.tries):
            if faults not in self._together:
                self._together[faults] = self._lazy(self.exercise.with_faults(*faults))
            if self._same(self._together[faults], view):
                return _as_told("pair", faults)
        return None

    def _pairs(self, view: View) -> list[tuple[Fault, Fault]]:
        """The likeliest first: one that is all that is wrong in the first wrong case, none that spoils a right case."""
        right = next((i for i, wrong in enumerate(view.failing) if not wrong), None)
        unlikely = {}
        for (fault,), known in self._alone:
            explains = self._same_case(known[view.first], view.cases[view.first], self.expected[view.first], True)
            spoils = right is not None and not self._same_case(
                known[right], self.expected[right], self.expected[right], True
            )
            unlikely[fault] = 2 * spoils - explains
        return sorted(_disjoint(self.exercise.faults), key=lambda pair: unlikely[pair[0]] + unlikely[pair[1]])

    def _fault_beside(self, view: View) -> Told | None:
        """The values are those of a fault, and something beside them is wrong as well."""
        for faults, known in self._alone:
            if self._same(known, view, values_only=True):
                about = _as_told("fault", faults)
                more = _first(SIDE_EFFECTS, view)
                return about.and_also(more) if more else about
        return None

    def _fault_and_symptom(self, view: View) -> Told | None:
        """Every fault with the plain symptoms, then every fault with those that could be chance."""
        for symptoms in (EXACT[:PLAIN], EXACT[PLAIN:]):
            for faults, known in self._alone[: self.exercise.tries // 4]:
                if known[view.first]["outcome"] == "returned":
                    rest = view.against(known)
                    if self._left_open(rest.only(view.wrong[:2]), symptoms):  # nothing in two: nothing in all
                        continue
                    told = _first(symptoms, rest)
                    whole = told and (told.name == "parts in another order" or len(rest.parts()) <= 1)
                    if whole and told.name != "other keys":  # nothing is left that the two do not explain
                        return _as_told("fault", faults).and_also(told)
        return None

    def _left_open(self, some: View, symptoms: tuple) -> bool:
        """Whether a few cases differ in a way that no symptom explains."""
        return not some.returned_everywhere() or (any(map(some.differs, some.wrong)) and not _first(symptoms, some))

    def _property(self, view: View) -> Told | None:
        return _first(PROPERTIES, view)

    def _same(self, known: _Lazy, view: View, values_only: bool = False) -> bool:
        """Whether an answer did what is known, the first wrong case first."""
        if not all(self._same_case(known[i], view.cases[i], self.expected[i], True) for i in view.order):
            return False
        return values_only or all(
            self._same_case(known.whole(i), view.cases[i], self.expected[i], False) for i in view.order
        )

    def _same_case(self, known: Tree, have: Tree, right: Tree, values_only: bool) -> bool:
        if known["outcome"] != have["outcome"]:
            return False
        if known["outcome"] != "returned":
            if right["outcome"] == "raised" and known["type"] == right["type"]:  # the message is the student's own
                return have["type"] == right["type"]
            return (known["type"], known["message"]) == (have["type"], have["message"])
        if value_difference(self.exercise, known["value"], have["value"]):
            return False
        return values_only or (known["changed"] == have["changed"] and self._same_gradients(known, have))

    def _same_gradients(self, known: Tree, have: Tree) -> bool:
        left, right = known.get("gradients"), have.get("gradients")
        if left is None or right is None:
            return left is right
        if left["kind"] != "dict" or right["kind"] != "dict":
            return left["kind"] == right["kind"]
        return not difference(left, right, ("gradients",), self.exercise.rtol, 10 * self.exercise.atol)


class _Lazy:
    """What an answer does in each case, observed when first asked for; what lies beside the value only in ``whole``."""

    def __init__(self, answer: Callable, inputs: list[dict[str, Any]], exercise: Exercise) -> None:
        self._answer, self._inputs, self._exercise = answer, inputs, exercise
        self._seen: dict[tuple[int, bool], Tree] = {}

    def __getitem__(self, index: int) -> Tree:
        return self._observed(index, beside=False)

    def whole(self, index: int) -> Tree:
        """A case with changed arguments, and gradients where the probe asks for them."""
        return self._observed(index, beside=True)

    def _observed(self, index: int, beside: bool) -> Tree:
        if (index, beside) not in self._seen:
            case, probe = self._inputs[index], self._exercise.probe
            self._seen[index, beside] = self._exercise.noted(
                case, observe_case(self._answer, case, probe, beside=beside)
            )
        return self._seen[index, beside]


def _disjoint(faults: tuple[Fault, ...]) -> Iterator[tuple[Fault, Fault]]:
    for one, other in itertools.combinations([fault for fault in faults if fault.parts], 2):
        if not one.parts.keys() & other.parts.keys():
            yield one, other


def _as_told(layer: str, faults: tuple[Fault, ...]) -> Told:
    told = [Told(layer, fault.name, fault.looks_like, fault.advice) for fault in faults]
    return told[0] if len(told) == 1 else told[0].and_also(told[1])


def _first(symptoms: tuple, view: View) -> Told | None:
    return next((told for symptom in symptoms if (told := symptom(view))), None)
