"""Entries: the two halves hang together for functions, classes and quizzes."""

import torch

from course_utils.checks.exercise import Alternative, Exercise, Mistake, Option, Quiz


class Doubler:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x


class Forgetful(Doubler):
    def __call__(self, x):
        return x


def by_class(number="9.1"):
    return Exercise(
        number=number,
        title="A class",
        points=2,
        inputs=lambda seed: [{"factor": 3.0, "x": torch.randn(4, generator=torch.Generator().manual_seed(seed))}],
        reference=Doubler,
        returns=("result",),
        call=lambda answer, case: answer(case["factor"])(case["x"]),
        expects="class",
        mistakes=(Mistake("ignores the factor", Forgetful, "x as it came.", "multiply by the factor."),),
        alternatives=(Alternative("subclass", type("Other", (Doubler,), {})),),
        advice="multiply.",
    )


def verdict(entry, answer, seed=3):
    inputs = entry.inputs(seed)
    return entry.judge(inputs, entry.probe(answer, inputs))


def test_a_class_is_called_in_the_exercises_own_way():
    assert verdict(by_class(), Doubler).passed
    found = verdict(by_class(), Forgetful)
    assert (found.mistake, found.looks_like) == ("ignores the factor", "x as it came.")
    assert "the class itself" in verdict(by_class(), lambda factor: None).text()


def test_other_inputs_give_the_same_verdict():
    assert all(verdict(by_class(), Doubler, seed).passed for seed in range(5))


def test_a_quiz_has_no_inputs():
    quiz = Quiz("9.2", "Q", 1, {"a": Option("one", "it is."), "b": Option("two", "it is not.")}, right="a")
    assert quiz.inputs(3) == []
    assert verdict(quiz, "a").explanation == "it is." and "Not b: it is not." in verdict(quiz, "b").text()
