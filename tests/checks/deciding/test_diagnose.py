"""Which diagnosis wins: the most specific that is true."""

import pytest
import torch
from toy_exercises import diagnosis, exercise, verdict

from course_checks.deciding.decide import Decider
from course_checks.deciding.exercise import Case, mistake
from course_checks.deciding.wrong_answer import Diagnosis
from course_checks.running.observe import observe

RNG = torch.Generator().manual_seed(0)
CASES = [Case(x=torch.randn(2, 5, generator=RNG)), Case(x=torch.randn(3, 4, generator=RNG))]
TEXT = """
def toy(x):
    y = x - x.mean(-1, keepdim=True)
    spread = y.square().mean(-1, keepdim=True)
    return y / (spread.sqrt() + 0.1)
"""
MEAN, SPREAD = "subtract the mean.", "look at the spread."
KNOWN = [
    mistake("the mean is not taken off.", MEAN, {"x - x.mean(-1, keepdim=True)": "x"}),
    mistake("the median is taken off.", MEAN, {"x.mean(-1, keepdim=True)": "x.median(-1, keepdim=True).values"}),
    mistake(
        "divided by n - 1.",
        SPREAD,
        {"y.square().mean(-1, keepdim=True)": "y.square().sum(-1, keepdim=True) / (y.shape[-1] - 1)"},
    ),
    mistake("the root is missing.", SPREAD, {"spread.sqrt()": "spread"}),
]
TOY = exercise(TEXT, CASES, mistakes=KNOWN)
NO_MEAN, MEDIAN, BESSEL, NO_ROOT = KNOWN
right, no_mean, no_root = TOY.right, TOY.wrong(NO_MEAN), TOY.wrong(NO_ROOT)


def diagnosed(answer, known=KNOWN, **fields):
    return diagnosis(TEXT, answer, *CASES, mistakes=known, **fields)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.looks_like)
def test_one_mistake(known):
    assert diagnosed(TOY.wrong(known)) == ("mistake", known.looks_like.rstrip("."), known.looks_like)


@pytest.mark.parametrize("pair", [(NO_MEAN, NO_ROOT), (MEDIAN, BESSEL), (BESSEL, NO_ROOT)])
def test_two_mistakes(pair):
    first, second = (one.looks_like for one in pair)
    found_by, name, sentence = diagnosed(TOY.wrong(*pair))
    assert (found_by, name) == ("pair", f"{first[:-1]} + {second[:-1]}")
    assert sentence == f"two things at once: {first[:-1]}; and {second}"


def test_a_mistake_in_another_form():
    known = [*KNOWN, mistake("a mask.", "no mask.", then=lambda y: y > 0)]
    assert diagnosed(lambda x: right(x) <= 0, known)[1] == "a mask + inverted"


def test_a_mistake_and_something_beside_the_values():
    def answer(x):
        result = no_root(x)
        x += 1
        return result

    assert diagnosed(answer)[:2] == ("pair", "the root is missing + changes its input")
    cut = diagnosed(lambda x: no_root(x).detach(), gradients=True)
    assert cut[:2] == ("pair", "the root is missing + no gradient")


def test_a_symptom_goes_before_a_pair_and_a_mistake_before_a_symptom():
    assert diagnosed(lambda x: -right(x))[:2] == ("symptom", "negative")
    known = [*KNOWN, mistake("the sign is wrong.", "turn it.", then=torch.neg)]
    assert diagnosed(lambda x: -right(x), known)[:2] == ("mistake", "the sign is wrong")


def test_an_exercises_own_symptom_goes_before_the_general_ones():
    own = Diagnosis("symptom", "own", "as only this exercise can tell.", "")
    assert diagnosed(lambda x: -right(x), symptoms=(lambda answer: own,))[1] == "own"


def test_nothing_is_made_up():
    decided = verdict(TEXT, lambda x: (x * 3).sin(), *CASES, mistakes=KNOWN)
    assert (decided.found_by, decided.mistake, decided.looks_like, decided.advice) == ("", None, "", "look again.")


def test_a_mistake_must_fit_every_case():
    assert diagnosed(lambda x: no_root(x) if len(x) == 2 else (x * 3).sin())[0] in ("", "contrast")


def test_a_mistake_whose_edit_does_not_apply_is_passed_over():
    gone = mistake("gone.", "", {"no such text": "x"})
    assert diagnosed(no_root, [gone, *KNOWN])[2] == NO_ROOT.looks_like


def test_an_answer_that_stops_everywhere_is_no_pair():
    known = [mistake("a.", "", {"y / (": "y / {}['a'] / ("}), mistake("b.", "", {"+ 0.1": "+ 0.2"})]
    both = exercise(TEXT, CASES).wrong(*known)
    assert diagnosed(both, known)[:2] == ("mistake", "a")
    assert diagnosed(both, [known[1]])[:2] == ("symptom", "stops with KeyError")


def test_the_search_is_bounded():
    many = [mistake(f"a{i}.", "", {"x.mean(-1, keepdim=True)": f"{i + 1}"}) for i in range(20)]
    many += [mistake(f"b{i}.", "", {"+ 0.1": f"+ {i + 2}"}) for i in range(20)]
    toy = exercise(TEXT, CASES, mistakes=many, pairs=30)
    decider = Decider(toy, CASES)
    decider.verdict(observe(lambda x: (x * 3).sin(), CASES, toy.call))
    assert len(decider._diagnosing._together) == 30
