"""What an answer did: the most specific thing that is true of it, from its observations alone.

Searched in this order: one known mistake; a symptom that reproduces the answer exactly; two mistakes that go together; a
mistake with a side effect; labels that just the wrong cases bear; a property that what is right has and the answer has not; what
else the wrong cases share. Whatever is told by name comes out of the solution by just that change, in every case.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

from ..running.call import Case
from ..running.encode import Tree
from ..running.observe import observe_case
from .compare import difference, value_difference
from .contrast import by_labels, by_what_is_shared, labelled_cases
from .exercise import Exercise, Mistake
from .symptoms import EXACT, FORMS, PROPERTIES, SIDE_EFFECTS, STOPS
from .symptoms.arguments import changed_arguments
from .symptoms.properties import other_parts_are_right
from .symptoms.side_effects import changes_its_input, remembers
from .wrong_answer import Diagnosis, Symptom, WrongAnswer

NOTHING = Diagnosis("", None, "", "")
MOST_CHANGES = 80  # of arguments


class Diagnosing:
    """Diagnoses any number of wrong answers to one exercise on one set of cases.

    Args:
        exercise: The exercise.
        cases: The cases.
        expected: What the solution did on each.
    """

    def __init__(self, exercise: Exercise, cases: list[Case], expected: list[Tree]) -> None:
        self.exercise, self.cases, self.expected = exercise, cases, expected
        alone = ((mistake, exercise.wrong(mistake)) for mistake in exercise.known_mistakes)
        self._alone = [(mistake, _Observed(wrong, cases, exercise)) for mistake, wrong in alone if wrong is not None]
        self._together: dict[tuple[int, int], _Observed | None] = {}

    def diagnosis(self, observed: list[Tree], failing: list[bool]) -> Diagnosis:
        """What to tell about an answer that is wrong in the ``failing`` cases."""
        answer = WrongAnswer(self.exercise, self.cases, self.expected, observed, failing)
        searches = [
            self._mistake,
            _first_of(self.exercise.symptoms),
            self._stopped,
            self._only_side_effects,
            _first_of(EXACT),
            self._changed_arguments,
            self._pair,
            self._mistake_with_side_effect,
            self._mistake_in_another_form,
            remembers,
            changes_its_input,
            by_labels,
            _first_of(PROPERTIES),
            by_what_is_shared,
            other_parts_are_right,
        ]
        return next((diagnosis for search in searches if (diagnosis := search(answer))), NOTHING)

    def _mistake(self, answer: WrongAnswer) -> Diagnosis | None:
        for mistake, known in self._alone:
            if self._same(known, answer):
                return _as_diagnosis(mistake)
        return None

    def _stopped(self, answer: WrongAnswer) -> Diagnosis | None:
        diagnosis = _first(STOPS, answer)
        where = diagnosis and labelled_cases(answer)
        return replace(diagnosis, looks_like=f"{diagnosis.looks_like} {where}") if where else diagnosis

    def _only_side_effects(self, answer: WrongAnswer) -> Diagnosis | None:
        """The values are right in every case; what is wrong lies beside them."""
        return _first(SIDE_EFFECTS, answer) if answer.values_are_right() else None

    def _changed_arguments(self, answer: WrongAnswer) -> Diagnosis | None:
        stopped = all(answer.observed[i]["outcome"] == "raised" for i in answer.wrong)  # any odd number may stop it so
        if not stopped and not answer.is_rich():  # few results fit by chance
            return None
        for change in itertools.islice(changed_arguments(answer), min(MOST_CHANGES, self.exercise.pairs)):
            cases = [change.of(case) for case in self.cases]
            if None in cases or (stopped and change.diagnosis.name == "another number"):
                continue
            known = _Observed(self.exercise.right, cases, self.exercise)
            if self._same(known, answer, values_only=True):
                return change.diagnosis
        return None

    def _pair(self, answer: WrongAnswer) -> Diagnosis | None:
        """Two mistakes that each show in this answer; where it stops in every case, two edits fit by chance."""
        if all(answer.observed[index]["outcome"] != "returned" for index in answer.wrong):
            return None
        for first, second in itertools.islice(self._pairs(answer), self.exercise.pairs):
            known = self._both(first, second)
            if known is not None and self._same(known, answer) and self._each_shows(known, first, second):
                return _as_diagnosis(self._alone[first][0]).and_also(_as_diagnosis(self._alone[second][0]))
        return None

    def _pairs(self, answer: WrongAnswer) -> Iterator[tuple[int, int]]:
        """The likeliest first: those of which none spoils a case that is right."""
        right = [index for index, wrong in enumerate(answer.failing) if not wrong][:1]
        places = [
            place
            for place, (mistake, known) in enumerate(self._alone)
            if mistake.instead is None
            and all(self._same_values(known[i], self.expected[i], self.expected[i]) for i in right)
        ]
        return itertools.combinations(places, 2)

    def _both(self, first: int, second: int) -> _Observed | None:
        if (first, second) not in self._together:
            wrong = self.exercise.wrong(self._alone[first][0], self._alone[second][0])
            self._together[first, second] = wrong and _Observed(wrong, self.cases, self.exercise)
        return self._together[first, second]

    def _each_shows(self, both: _Observed, first: int, second: int) -> bool:
        """Whether neither mistake undoes or covers the other: both together differ from each alone."""
        return all(
            any(
                not self._same_values(both[i], self._alone[place][1][i], self.expected[i])
                for i in range(len(self.cases))
            )
            for place in (first, second)
        )

    def _mistake_with_side_effect(self, answer: WrongAnswer) -> Diagnosis | None:
        """The values are those of a mistake, and something beside them is wrong as well."""
        for mistake, known in self._alone:
            if self._same(known, answer, values_only=True):
                side_effect = _first(SIDE_EFFECTS, answer)
                return _as_diagnosis(mistake).and_also(side_effect) if side_effect else _as_diagnosis(mistake)
        return None

    def _mistake_in_another_form(self, answer: WrongAnswer) -> Diagnosis | None:
        """What comes back is that of a mistake, in another order, dtype or polarity besides."""
        first = answer.only([answer.first])
        for mistake, known in self._alone:
            if known[answer.first]["outcome"] == answer.observed[answer.first]["outcome"] == "returned":
                if not _first(FORMS, first.beside([known[answer.first]])):  # nothing in one case: nothing in all
                    continue
                rest = answer.beside(known)
                form = _first(FORMS, rest) if rest.returned_everywhere() and len(rest.parts()) <= 1 else None
                if form:
                    return _as_diagnosis(mistake).and_also(form)
        return None

    def _same(self, known: _Observed, answer: WrongAnswer, values_only: bool = False) -> bool:
        """Whether an answer did what is known, the first wrong case first."""
        if not all(self._same_values(known[i], answer.observed[i], self.expected[i]) for i in answer.order):
            return False
        return values_only or all(self._same_side_effects(known.whole(i), answer.observed[i]) for i in answer.order)

    def _same_values(self, known: Tree, actual: Tree, right: Tree) -> bool:
        if known["outcome"] != actual["outcome"]:
            return False
        if known["outcome"] != "returned":
            if right["outcome"] == "raised" and known["type"] == right["type"]:  # the message is the student's own
                return actual["type"] == right["type"]
            return (known["type"], known["message"]) == (actual["type"], actual["message"])
        return not value_difference(self.exercise, known["value"], actual["value"])

    def _same_side_effects(self, known: Tree, actual: Tree) -> bool:
        if known["outcome"] != "returned":
            return True
        return known["changed"] == actual["changed"] and self._same_gradients(known, actual)

    def _same_gradients(self, known: Tree, actual: Tree) -> bool:
        left, right = known.get("gradients"), actual.get("gradients")
        if left is None or right is None:
            return left is right
        if left["kind"] != "dict" or right["kind"] != "dict":
            return left["kind"] == right["kind"]
        return not difference(left, right, ("gradients",), self.exercise.rtol, 10 * self.exercise.atol)


class _Observed:
    """What an answer does in each case, observed when first asked for; what lies beside the value only in ``whole``."""

    def __init__(self, answer: Callable, cases: list[Case], exercise: Exercise) -> None:
        self._answer, self._cases, self._exercise = answer, cases, exercise
        self._seen: dict[tuple[int, bool], Tree] = {}

    def __getitem__(self, index: int) -> Tree:
        return self._observed(index, side_effects=False)

    def whole(self, index: int) -> Tree:
        """A case with changed arguments, and gradients where the exercise asks for them."""
        return self._observed(index, side_effects=True)

    def _observed(self, index: int, side_effects: bool) -> Tree:
        if (index, side_effects) not in self._seen:
            case = self._cases[index]
            seen = observe_case(self._answer, case, self._exercise.call, side_effects=side_effects)
            self._seen[index, side_effects] = self._exercise.compared_part(case, seen)
        return self._seen[index, side_effects]


def _as_diagnosis(mistake: Mistake) -> Diagnosis:
    return Diagnosis("mistake", mistake.looks_like.rstrip("."), mistake.looks_like, mistake.advice)


def _first(symptoms: tuple, answer: WrongAnswer) -> Diagnosis | None:
    return next((diagnosis for symptom in symptoms if (diagnosis := symptom(answer))), None)


def _first_of(symptoms: tuple) -> Symptom:
    return functools.partial(_first, symptoms)
