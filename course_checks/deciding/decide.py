"""The second half of a check: compare what was observed with what is right, and say what the answer did.

This half needs plain data only; the class grader runs it where no student code ever runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import Tensor

from ..running.call import Case
from ..running.encode import Tree
from ..running.observe import observe_case
from .compare import Difference, case_difference
from .diagnose import Diagnosing
from .exercise import Entry, Exercise, Quiz
from .experiment import decide_experiment
from .verdict import Verdict
from .wrong_answer import Diagnosis

NOT_ATTEMPTED = "Replace the line `raise NotImplementedError` by your own code, run that cell, then this one."


def cases_of(entry: Entry, seed: int) -> list[Case]:
    """The cases that answers are called on; a quiz and an experiment have none."""
    return entry.cases(seed) if isinstance(entry, Exercise) else []


def decider(entry: Entry, cases: list[Case]) -> Callable[[Tree], Verdict]:
    """From observations to verdict, for any number of answers to the same cases. Runs no student code."""
    if isinstance(entry, Exercise):
        return Decider(entry, cases).verdict
    return functools.partial(decide_quiz if isinstance(entry, Quiz) else decide_experiment, entry)


class Decider:
    """Decides on any number of answers to one exercise on one set of cases; what is right is worked out once.

    Args:
        exercise: The exercise.
        cases: The cases that the answers were called on.
    """

    def __init__(self, exercise: Exercise, cases: list[Case]) -> None:
        self.exercise, self.cases = exercise, cases

    def verdict(self, observations: Tree) -> Verdict:
        """The verdict on one answer, from data alone."""
        observed = observations["cases"]
        stubs = [_is_stub(case) for case in observed]
        if observations["answer"] == "missing" or (stubs and all(stubs)):
            return self._empty(observations)
        if observations["answer"] == "wrong kind":
            return self._verdict(what=_wrong_kind(self.exercise, observations["type"]))
        if len(observed) != len(self.cases):
            return self._verdict(what=f"{len(observed)} of {len(self.cases)} cases were observed.")
        for case in observed:
            if case["outcome"] == "off limits":
                return self._verdict(
                    what=f"This exercise asks you to write it yourself: {case['message']} is off limits here.",
                    advice="use the operations that the task names, and build it from them.",
                )
        observed = [self.exercise.compared_part(case, seen) for case, seen in zip(self.cases, observed, strict=True)]
        differences = [
            case_difference(self.exercise, expected, actual)
            for expected, actual in zip(self._expected, observed, strict=True)
        ]
        failing = [bool(difference) for difference in differences]
        if not any(failing):
            return self._verdict(passed=True, right_in=(True,) * len(failing))
        return self._failed(differences, failing, self._diagnosing.diagnosis(observed, failing))

    def _failed(self, differences: list[Difference | None], failing: list[bool], diagnosis: Diagnosis) -> Verdict:
        index = failing.index(True)
        return self._verdict(
            difference=differences[index],
            case=index,
            right_in=tuple(not fails for fails in failing),
            called_with=describe_arguments(self.cases[index]),
            found_by=diagnosis.found_by,
            mistake=diagnosis.name,
            looks_like=diagnosis.looks_like,
            advice=diagnosis.advice or self.exercise.advice,
        )

    def _empty(self, observations: Tree) -> Verdict:
        inside = {case.get("function") for case in observations["cases"]} - {"", None}
        name = observations.get("name", "")
        if observations["answer"] != "missing" and name not in ("", "<lambda>") and inside and name not in inside:
            what = f"Your answer calls {' and '.join(sorted(inside))}, which is still empty."
            return self._verdict(what=what, advice="write that function first, and run its cell; then run this check.")
        return self._verdict(attempted=False, what="The answer is still empty.", advice=NOT_ATTEMPTED)

    def _verdict(self, passed: bool = False, **parts) -> Verdict:
        return Verdict(self.exercise.number, self.exercise.points, passed, **parts)

    @functools.cached_property
    def _expected(self) -> list[Tree]:
        answer, call = self.exercise.right, self.exercise.call
        observed = [self.exercise.compared_part(case, observe_case(answer, case, call)) for case in self.cases]
        raised = [case for case in observed if case["outcome"] == "raised"]
        if len(raised) == len(observed) or any(case["type"] != "ValueError" for case in raised):
            # any answer that raises the same would be right there
            which = "every" if len(raised) == len(observed) else "a"
            first = f"{raised[0]['type']}: {raised[0]['message']}"
            raise ValueError(f"the solution of {self.exercise.number} raises in {which} case ({first})")
        return observed

    @functools.cached_property
    def _diagnosing(self) -> Diagnosing:
        return Diagnosing(self.exercise, self.cases, self._expected)


def decide_quiz(quiz: Quiz, observations: Tree) -> Verdict:
    """The verdict on a quiz question."""
    letters = ", ".join(quiz.explanations)
    value = observations.get("value", {"kind": "none"})
    choice = value["value"].strip().lower() if value["kind"] == "str" else None
    if observations["answer"] == "missing" or choice == "":
        what = f"No option is chosen. Write one of {letters} between the quotes."
        return Verdict(quiz.number, quiz.points, passed=False, attempted=False, what=what)
    if choice not in quiz.explanations:
        what = f"The answer must be one letter in quotes, one of {letters}."
        return Verdict(quiz.number, quiz.points, passed=False, what=what)
    explanation = quiz.explanations[choice]
    if choice == quiz.right:
        return Verdict(quiz.number, quiz.points, passed=True, explanation=explanation[0].upper() + explanation[1:])
    what = f"Not {choice}: {explanation}"
    return Verdict(quiz.number, quiz.points, passed=False, mistake=choice, found_by="mistake", what=what)


def describe_arguments(case: dict[str, Any]) -> str:
    """One case in words: small tensors by value, larger ones by shape."""
    return ", ".join(f"{name} = {_describe(value)}" for name, value in case.items())


def _describe(value: Any) -> str:
    if isinstance(value, Tensor):
        if value.numel() <= 9 and value.dim() <= 3:
            return str(_rounded(value.tolist()))
        return f"tensor {tuple(value.shape)}"
    if isinstance(value, dict):
        return f"{{{', '.join(map(repr, value))}}}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _is_stub(case: Tree) -> bool:
    return case["outcome"] == "raised" and case["type"] == "NotImplementedError" and not case["message"]


def _wrong_kind(exercise: Exercise, kind: str) -> str:
    wanted = "the class" if exercise.call.expects == "class" else "the function"
    got = "a class" if kind == "class" else f"an object of type {kind}"
    return (
        f"check got {got}; it needs {wanted} itself: its name without parentheses, "
        f'as in check("{exercise.number}", {exercise.entry.answer}).'
    )
