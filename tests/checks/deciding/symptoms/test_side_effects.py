"""What is wrong beside the values."""

import torch
from toy_exercises import diagnosis, verdict

CASES = [{"x": torch.tensor([1.0, 2.5])}, {"x": torch.tensor([3.0, -1.5, 2.0])}]
WATCHED = {"gradients": True}


def square(x):
    return x * x


def test_in_place():
    assert diagnosis(square, lambda x: x.mul_(x), *CASES)[1] == "changes its input"


def test_memory_of_an_earlier_call():
    calls = []

    def answer(x):
        calls.append(1)
        return x * x + (len(calls) > 2)

    found_by, name, sentence = diagnosis(square, answer, *CASES)
    assert name == "remembers an earlier call" and "the second time" in sentence


def test_gradients_that_are_cut():
    def half_cut(x):
        return x * x.detach()

    assert diagnosis(square, lambda x: (x * x).detach(), *CASES, **WATCHED)[1] == "no gradient"
    assert diagnosis(square, half_cut, *CASES, **WATCHED)[1] == "another gradient"


def test_a_gradient_that_is_not_a_number():
    def hidden_too_late(x):
        return torch.where(x < 100.0, x * x, (1000.0 * x.exp()).exp())  # inf * 0 on the way back

    found_by, name, sentence = diagnosis(square, hidden_too_late, *CASES, **WATCHED)
    assert name == "NaN in the gradient" and "`x`" in sentence and "the values are right" in sentence
    assert (
        diagnosis(square, lambda x: torch.from_numpy(x.numpy() ** 2), *CASES, **WATCHED)[1]
        == "does not work with gradients"
    )
    assert verdict(square, lambda x: x**2, *CASES, **WATCHED).passed


def test_the_argument_that_no_gradient_reaches():
    cases = [{"x": torch.ones(2), "y": torch.arange(2.0)}]
    found_by, name, sentence = diagnosis(lambda x, y: x * y, lambda x, y: x * y.detach(), *cases, **WATCHED)
    assert (name, sentence) == ("gradient cut", "the values are right, but no gradient reaches `y`.")


def test_dtype():
    found_by, name, sentence = diagnosis(square, lambda x: (x * x).double(), *CASES)
    assert name == "another dtype" and "float64" in sentence and "float32" in sentence


def test_float64_computed_in_less():
    decided = verdict(torch.cos, lambda x: x.float().cos().double(), {"x": torch.rand(4, dtype=torch.float64)})
    assert not decided.passed and decided.mistake == "less exact"
