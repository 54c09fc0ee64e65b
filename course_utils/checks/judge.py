"""The second half of a check: compare what was observed with what is right, and find the mistake it resembles.

This half needs plain data only; the class grader runs it where no student code ever runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import Tensor

from .codec import Tree
from .compare import Difference, difference
from .verdict import Verdict

if TYPE_CHECKING:
    from .exercise import Exercise, Mistake, Quiz

NOT_ATTEMPTED = "Replace the line `raise NotImplementedError` by your own code, run that cell, then this one."
DTYPE = "ask for that dtype when you make the tensor, or convert it with .to(...)."
DTYPE_DIFFERS = "the dtype differs"
STOPPED = "mend that line; if shapes are the trouble, print them right before it."


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
            return self._verdict(attempted=False, what="The answer is still empty.", advice=NOT_ATTEMPTED)
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
        failed = _first_difference(self.exercise, self._expected, cases)
        if failed is None:
            return self._verdict(passed=True)
        index, found = failed
        parts = {"difference": found, "called_with": describe_arguments(self.inputs[index])}
        for mistake, known in self._mistakes:
            if _same_behavior(self.exercise, known, cases):
                named = {"mistake": mistake.name, "looks_like": mistake.looks_like, "advice": mistake.advice}
                return self._verdict(**parts, **named)
        stopped = cases[index]["outcome"] == "raised"
        advice = STOPPED if stopped else DTYPE if found.what == DTYPE_DIFFERS else self.exercise.advice
        return self._verdict(**parts, advice=advice)

    def _verdict(self, passed: bool = False, **parts) -> Verdict:
        return Verdict(self.exercise.number, self.exercise.points, passed, **parts)

    @functools.cached_property
    def _expected(self) -> list[Tree]:
        cases = self._observed(self.exercise.reference)
        if all(case["outcome"] == "raised" for case in cases):  # or any answer that raises the same would be right
            first = f"{cases[0]['type']}: {cases[0]['message']}"
            raise ValueError(f"the reference of {self.exercise.number} raises in every case ({first})")
        return cases

    @functools.cached_property
    def _mistakes(self) -> list[tuple[Mistake, list[Tree]]]:
        return [(mistake, self._observed(mistake.implementation)) for mistake in self.exercise.mistakes]

    def _observed(self, answer: Callable) -> list[Tree]:
        return self.exercise.probe(answer, self.inputs, guarded=False)["cases"]


def judge_quiz(quiz: Quiz, observations: Tree) -> Verdict:
    """The verdict on a quiz question."""
    letters = ", ".join(quiz.options)
    value = observations.get("value", {"kind": "none"})
    choice = value["value"].strip().lower() if value["kind"] == "str" else None
    if observations["answer"] == "missing" or choice == "":
        what = f"No option is chosen. Write one of {letters} between the quotes."
        return Verdict(quiz.number, quiz.points, passed=False, attempted=False, what=what)
    if choice not in quiz.options:
        what = f"The answer must be one letter in quotes, one of {letters}."
        return Verdict(quiz.number, quiz.points, passed=False, what=what)
    explanation = quiz.options[choice].explanation
    if choice == quiz.right:
        return Verdict(quiz.number, quiz.points, passed=True, explanation=explanation)
    return Verdict(quiz.number, quiz.points, passed=False, mistake=choice, what=f"Not {choice}: {explanation}")


def describe_arguments(case: dict[str, Any]) -> str:
    """One case in words: small tensors by value, larger ones by shape."""
    return ", ".join(f"{name} = {_describe(value)}" for name, value in case.items())


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
    wanted = "the class" if exercise.expects == "class" else "the function"
    got = "a class" if found == "class" else f"an object of type {found}"
    return (
        f"check got {got}; it needs {wanted} itself: its name without parentheses, "
        f'as in check("{exercise.number}", name).'
    )


def _first_difference(exercise: Exercise, expected: list[Tree], cases: list[Tree]) -> tuple[int, Difference] | None:
    for index, (want, have) in enumerate(zip(expected, cases, strict=True)):
        found = _case_difference(exercise, want, have)
        if found is None and have["changed"]:
            names = ", ".join(have["changed"])
            found = Difference(names, "your code changed its input in place; compute new tensors instead")
        if found is not None:
            return index, found
    return None


def _case_difference(exercise: Exercise, want: Tree, have: Tree) -> Difference | None:
    if have["outcome"] != "returned":
        if want["outcome"] == have["outcome"] and want["type"] == have["type"]:
            return None
        where = f"your code stopped at {have['line']}" if have.get("line") else "your code stopped"
        return Difference(where, f"{have['type']}: {have['message'] or 'no message'}")
    if want["outcome"] != "returned":
        return Difference("returned", f"a value, where a {want['type']} was expected: {want['message']}")
    return difference(want["value"], have["value"], exercise.returns, exercise.rtol, exercise.atol)


def _same_behavior(exercise: Exercise, known: list[Tree], cases: list[Tree]) -> bool:
    for left, right in zip(known, cases, strict=True):
        if left["outcome"] != right["outcome"] or left["changed"] != right["changed"]:
            return False
        if left["outcome"] == "returned":
            if difference(left["value"], right["value"], exercise.returns, exercise.rtol, exercise.atol):
                return False
        elif (left["type"], left["message"]) != (right["type"], right["message"]):
            return False
    return True
