"""Which diagnosis wins: the most specific that is true; and where an answer is wrong, against where it is right."""

import pytest
import torch
from toy_exercises import diagnosis, exercise, verdict

from course_checks.deciding.decide import Decider
from course_checks.deciding.exercise import Case, mistake
from course_checks.deciding.wrong_answer import Diagnosis, as_numbers
from course_checks.running.encode import encode
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


X = [torch.randn(2, 3, generator=torch.Generator().manual_seed(i)) for i in range(4)]


def noise(x, other=None):
    return (x.flatten()[:3].double() * 37.7).sin().sum()


def wrong_on(*spoilt):
    sums = [noise(x) for x in spoilt]
    return lambda x, other=None: noise(x + 1) if noise(x) in sums else noise(x)


def test_a_label_is_told_as_what_it_is():
    cases = [Case(x=X[0]), Case("two keys tie", x=X[1]), Case(x=X[2]), Case("two keys tie", "long", x=X[3])]
    assert diagnosis(noise, wrong_on(X[1], X[3]), *cases) == (
        *("contrast", "It is wrong just where two keys tie"),
        "right in 2 cases of the check. It is wrong just where two keys tie.",
    )
    sentence = diagnosis(noise, wrong_on(X[3]), *cases)[2]
    assert sentence == "right in 3 cases of the check. It is wrong in one case alone, where long."


def test_several_labels_together_and_never_one_that_also_holds_where_it_is_right():
    cases = [Case("a tie", x=X[0]), Case("a gap", x=X[1]), Case(x=X[2]), Case("ordinary", x=X[3])]
    sentence = diagnosis(noise, wrong_on(X[0], X[1]), *cases)[2]
    assert sentence.endswith("It is wrong where a tie, and where a gap.")
    cases[2] = Case("a tie", x=X[2])
    assert diagnosis(noise, wrong_on(X[0], X[1]), *cases)[0] == ""


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ((None, X[0], None, X[1]), "`other` is given"),
        ((X[0], None, X[1], None), "`other` is None"),
        ((2, 1, 3, 1), "`other` is 1"),
        ((True, False, True, False), "`other` is False"),
        (("ab", "", "cd", ""), "`other` is empty"),
        ((X[0], X[1][:1], X[2], X[3][:1]), "`other.shape[-2]` is 1"),
        ((X[0], 99 * X[1], X[2], 99 * X[3]), "`other` has large entries"),
    ],
)
def test_what_the_wrong_cases_share_needs_two_of_them_and_two_right_ones(others, words):
    cases = [Case(x=x, other=other) for x, other in zip(X, others, strict=True)]
    found_by, name, sentence = diagnosis(noise, wrong_on(X[1], X[3]), *cases)
    assert found_by == "contrast" and f"wrong where {words}" in name
    assert sentence.startswith("right in 2 cases of the check, wrong in 2, and in these ") and words in sentence
    assert diagnosis(noise, wrong_on(X[1]), *cases[:3])[0] == ""
    assert diagnosis(noise, wrong_on(X[1], X[3]), cases[0], cases[1], cases[3])[0] == ""


def test_nothing_where_all_cases_are_wrong_or_nothing_tells_them_apart():
    labelled = [Case("a tie", x=x) for x in X[:2]]
    assert diagnosis(noise, wrong_on(*X), *labelled)[0] == ""
    assert diagnosis(noise, wrong_on(X[0], X[1]), *(Case(x=x) for x in X))[0] == ""


def test_where_it_stops_is_told_with_the_label():
    def answer(x):
        return noise(x) if noise(x) != noise(X[1]) else {}["key"]

    cases = [Case(x=X[0]), Case("two keys tie", x=X[1]), Case(x=X[2])]
    found_by, name, sentence = diagnosis(noise, answer, *cases)
    assert (found_by, name) == ("symptom", "stops with KeyError")
    assert sentence.endswith("It is wrong in one case alone, where two keys tie.")


@pytest.mark.parametrize(
    "value", ["a", None, [], [[1], [2, 3]], [1, "a"], {"a": 1}, torch.ones(1, dtype=torch.complex64)]
)
def test_what_are_no_numbers(value):
    assert as_numbers(encode(value)) is None


def test_two_things_at_once():
    both = Diagnosis("mistake", "a", "one is wrong.", "mend one.").and_also(
        Diagnosis("symptom", "b", "another too.", "mend it.")
    )
    assert both == Diagnosis(
        "pair", "a + b", "two things at once: one is wrong; and another too.", "Mend one. Mend it."
    )


@pytest.mark.parametrize(
    "advice", ["x = x + f(x): nothing is lost.", "dim=0 sums down a column.", "query @ key.mT fits."]
)
def test_code_gets_no_capital(advice):
    assert (
        advice
        in Diagnosis("mistake", "a", "one.", "mend it.").and_also(Diagnosis("mistake", "b", "two.", advice)).advice
    )
