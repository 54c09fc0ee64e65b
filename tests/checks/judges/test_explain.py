"""Which explanation wins: the most specific that is true."""

import pytest
import torch
from toys import exercise, told, verdict

from course_utils.checks.judges.exercise import Case, Fault
from course_utils.checks.judges.judge import Judge
from course_utils.checks.judges.symptoms.view import Told
from course_utils.checks.probes.observe import observe
from course_utils.checks.probes.probe import Probe

RNG = torch.Generator().manual_seed(0)
CASES = [{"x": torch.randn(2, 5, generator=RNG)}, {"x": torch.randn(3, 4, generator=RNG)}]


def standard(
    x, *, center=lambda x: x.mean(-1, keepdim=True), spread=lambda y: y.square().mean(-1, keepdim=True), root=torch.sqrt
):
    y = x - center(x)
    return y / (root(spread(y)) + 0.1)


FAULTS = (
    Fault("no mean", "the mean is not taken off.", "subtract the mean.", center=lambda x: 0.0),
    Fault("median", "the median is taken off.", "subtract the mean.", center=lambda x: x.median(-1, keepdim=True).values),
    Fault(
        "variance by n - 1", "divided by n - 1.", "divide by n.",
        spread=lambda y: y.square().sum(-1, keepdim=True) / (y.shape[-1] - 1),
    ),
    Fault("no root", "the root is missing.", "take the root.", root=lambda v: v),
)  # fmt: skip
SAID = {fault.name: fault for fault in FAULTS}


def say(answer, **options):
    return told(standard, answer, *CASES, faults=FAULTS, **options)


@pytest.mark.parametrize("name", SAID)
def test_one_fault(name):
    answer = lambda x: standard(x, **SAID[name].parts)  # noqa: E731
    assert say(answer) == ("fault", name, SAID[name].looks_like)


@pytest.mark.parametrize(
    "names", [("no mean", "no root"), ("median", "variance by n - 1"), ("variance by n - 1", "no root")]
)
def test_two_faults_of_different_parts(names):
    one, other = (SAID[name] for name in names)
    layer, name, said = say(lambda x: standard(x, **one.parts, **other.parts))
    assert (layer, name) == ("pair", f"{one.name} + {other.name}")
    assert said == f"two things at once: {one.looks_like[:-1]}; and {other.looks_like}"


def test_a_fault_and_a_symptom():
    layer, name, _ = say(lambda x: -standard(x, center=lambda x: 0.0))
    assert (layer, name) == ("pair", "no mean + negative")


def test_a_fault_and_something_beside_the_values():
    def answer(x):
        result = standard(x, root=lambda v: v)
        x += 1
        return result

    assert say(answer)[:2] == ("pair", "no root + changes its input")
    watched = {"probe": Probe(gradients=True)}
    assert say(lambda x: standard(x, root=lambda v: v).detach(), **watched)[:2] == ("pair", "no root + no gradient")


def test_a_symptom_goes_before_a_pair_and_a_fault_before_a_symptom():
    assert say(lambda x: -standard(x))[:2] == ("symptom", "negative")
    known = (*FAULTS, Fault("sign", "the sign is wrong.", "turn it.", whole=lambda x: -standard(x)))
    assert told(standard, lambda x: -standard(x), *CASES, faults=known)[:2] == ("fault", "sign")


def test_an_exercises_own_symptom_goes_before_the_general_ones():
    def own(view):
        return Told("symptom", "own", "as only this exercise can tell.", "")

    assert say(lambda x: -standard(x), symptoms=(own,))[1] == "own"


def test_nothing_is_made_up():
    said = verdict(standard, lambda x: (x * 3).sin(), *CASES, faults=FAULTS)
    assert (said.layer, said.mistake, said.looks_like, said.advice) == ("", None, "", "look again.")


def test_a_wrong_value_and_a_right_one_are_not_a_fault():
    """A fault must fit every case."""
    mixed = lambda x: standard(x, root=lambda v: v) if len(x) == 2 else (x * 3).sin()  # noqa: E731
    assert say(mixed)[0] in ("", "contrast")


def test_the_search_is_bounded():
    many = [Fault(f"a{i}", "a.", "b.", center=lambda x, i=i: float(i + 1)) for i in range(40)]
    many += [Fault(f"b{i}", "a.", "b.", spread=lambda y, i=i: torch.tensor(i + 2.0)) for i in range(40)]
    made = exercise(standard, [Case(**case) for case in CASES], faults=many)
    judge = Judge(made, made.cases(0))
    judge.verdict(observe(lambda x: (x * 3).sin(), made.cases(0), made.probe))
    assert len(judge._explainer._together) == judge.exercise.tries < 1600
