"""What is wrong beside the values."""

import torch
from toys import told, verdict

from course_utils.checks.probes.probe import Probe

CASES = [{"x": torch.tensor([1.0, 2.5])}, {"x": torch.tensor([3.0, -1.5, 2.0])}]
WATCHED = {"probe": Probe(gradients=True)}


def square(x):
    return x * x


def test_in_place():
    assert told(square, lambda x: x.mul_(x), *CASES)[1] == "changes its input"


def test_memory_of_an_earlier_call():
    calls = []

    def answer(x):
        calls.append(1)
        return x * x + (len(calls) > 2)

    layer, name, said = told(square, answer, *CASES)
    assert name == "remembers an earlier call" and "the second time" in said


def test_gradients_that_are_cut():
    def half_cut(x):
        return x * x.detach()

    assert told(square, lambda x: (x * x).detach(), *CASES, **WATCHED)[1] == "no gradient"
    assert told(square, half_cut, *CASES, **WATCHED)[1] == "another gradient"


def test_a_gradient_that_is_not_a_number():
    def hidden_too_late(x):
        return torch.where(x < 100.0, x * x, (1000.0 * x.exp()).exp())  # inf * 0 on the way back

    layer, name, said = told(square, hidden_too_late, *CASES, **WATCHED)
    assert name == "NaN in the gradient" and "`x`" in said and "the values are right" in said
    assert (
        told(square, lambda x: torch.from_numpy(x.numpy() ** 2), *CASES, **WATCHED)[1] == "does not work with gradients"
    )
    assert verdict(square, lambda x: x**2, *CASES, **WATCHED).passed


def test_the_argument_that_no_gradient_reaches():
    cases = [{"x": torch.ones(2), "y": torch.arange(2.0)}]
    layer, name, said = told(lambda x, y: x * y, lambda x, y: x * y.detach(), *cases, **WATCHED)
    assert (name, said) == ("gradient cut", "the values are right, but no gradient reaches `y`.")


def test_dtype():
    layer, name, said = told(square, lambda x: (x * x).double(), *CASES)
    assert name == "another dtype" and "float64" in said and "float32" in said


def test_float64_computed_in_less():
    said = verdict(torch.cos, lambda x: x.float().cos().double(), {"x": torch.rand(4, dtype=torch.float64)})
    assert not said.passed and said.mistake == "less exact"
