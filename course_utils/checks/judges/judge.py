"""The second half of a check: compare what was observed with what is right, and say what the answer did.

This half needs plain data only; the class grader runs it where no student code ever runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import Tensor

from ..probes.codec import Tree
from ..probes.observe import observe_case
from ..probes.probe import visible
from .compare import Difference, case_difference
from .exercise import Case, Entry, Exercise, Quiz
from .experiment import judge_experiment
from .explain import Explainer, Told
from .verdict import Verdict

NOT_ATTEMPTED = "Replace the line `raise NotImplementedError` by your own code, run that cell, then this one."


def cases_of(entry: Entry, seed: int) -> list[Case]:
    """The cases that answers are called on; a quiz and an experiment have none."""
    return entry.cases(seed) if isinstance(entry, Exercise) else []


def judge_for(entry: Entry, inputs: list[dict[str, Any]]) -> Callable[[Tree], Verdict]:
    """From observations to verdict, for any number of answers to the same inputs. Runs no student code."""
    if isinstance(entry, Exercise):
        return Judge(entry, inputs).verdict
    return functools.partial(judge_quiz if isinstance(entry, Quiz) else judge_experiment, entry)


class Judge:
    """Judges any number of answers to one exercise on one set of inputs; what is right is worked out once.

    Args:
        exercise: The exercise.
        inputs: The cases that the answers were called on.
    """

    def __init__(self, exercise: Exercise, inputs: list[dict[str, Any]]) -> None:
        self.exercise, self.inputs = exercise, inputs

    def verdict(self, observations: Tree) -> Verdict:
        """The verdict on one answer, from data alone."""
        cases = observations["cases"]
        stubs = [_is_stub(case) for case in cases]
        if observations["answer"] == "missing" or (stubs and all(stubs)):
            return self._empty(observations)
        if observations["answer"] == "wrong kind":
            return self._verdict(what=_wrong_kind(self.exercise, observations["type"]))
        if len(cases) != len(self.inputs):
            return self._verdict(what=f"{len(cases)} of {len(self.inputs)} cases were observed.")
        for case in cases:
            if case["outcome"] == "off limits":
                return self._verdict(
                    what=f"This exercise asks you to write it yourself: {case['message']} is off limits here.",
                    advice="use the operations that the task names, and build it from them.",
                )
        cases = [self.exercise.noted(given, seen) for given, seen in zip(self.inputs, cases, strict=True)]
        differences = [
            case_difference(self.exercise, want, have) for want, have in zip(self._expected, cases, strict=True)
        ]
        if not any(differences):
            return self._verdict(passed=True)
        index = next(i for i, found in enumerate(differences) if found)
        told = self._explainer.told(cases, [bool(found) for found in differences])
        return self._failed(index, differences[index], told)

    def _failed(self, index: int, found: Difference, told: Told) -> Verdict:
        return self._verdict(
            difference=found,
            case=index,
            called_with=describe_arguments(self.inputs[index]),
            layer=told.layer,
            mistake=told.name,
            looks_like=told.looks_like,
            advice=told.advice or self.exercise.advice,
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
        answer = self.exercise.with_parts()
        cases = [self.exercise.noted(case, observe_case(answer, case, self.exercise.probe)) for case in self.inputs]
        raised = [case for case in cases if case["outcome"] == "raised"]
        if len(raised) == len(cases) or any(case["type"] != "ValueError" for case in raised):
            # any answer that raises the same would be right there
            which = "every" if len(raised) == len(cases) else "a"
            first = f"{raised[0]['type']}: {raised[0]['message']}"
            raise ValueError(f"the reference of {self.exercise.number} raises in {which} case ({first})")
        return cases

    @functools.cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self.exercise, self.inputs, self._expected)


def judge_quiz(quiz: Quiz, observations: Tree) -> Verdict:
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
        return Verdict(quiz.number, quiz.points, passed=True, explanation=explanation)
    what = f"Not {choice}: {explanation}"
    return Verdict(quiz.number, quiz.points, passed=False, mistake=choice, layer="fault", what=what)


def describe_arguments(case: dict[str, Any]) -> str:
    """One case in words: small tensors by value, larger ones by shape."""
    return ", ".join(f"{name} = {_describe(value)}" for name, value in visible(case).items())


def _describe(value: Any) -> str:
    if isinstance(value, Tensor):
        if value.numel() <= 6 and value.dim() <= 2:
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


def _wrong_kind(exercise: Exercise, found: str) -> str:
    wanted = "the class" if exercise.probe.expects == "class" else "the function"
    got = "a class" if found == "class" else f"an object of type {found}"
    return (
        f"check got {got}; it needs {wanted} itself: its name without parentheses, "
        f'as in check("{exercise.number}", {exercise.answer}).'
    )
