"""8.4 · Relative or absolute?"""

import torch

from ..deciding.exercise import Case, Exercise
from ..deciding.wrong_answer import stops_with, symptom

LENGTH = 9
SINGLE = (5, 2), (3, 6), (0, 0), (8, 8), (8, 3), (2, 8), (1, 0), (0, 1), (4, 4), (6, 7), (8, 1), (0, 7)


def cases(seed):
    rng = torch.Generator().manual_seed(seed)
    made = [_case(table, relative, *labels) for table, relative, *labels in _exact(rng)]
    for table, relative, *labels in _rounded(rng):  # as by float32, the same on every machine
        noise = 8e-7 * (torch.rand(LENGTH, LENGTH, generator=rng).double() - 0.5)
        made.append(_case(table + noise, relative, *labels))
    return made


def _case(table, relative, *labels):
    return Case(*labels, deciding={"relative": relative}, scores=table, length=len(table))


def _exact(rng):
    """Scores without rounding, whether they depend on the distance only, and labels; the smallest first."""
    m, n = torch.arange(LENGTH)[:, None], torch.arange(LENGTH)
    free, zeros = torch.randn(2 * LENGTH, generator=rng).double()[m - n], torch.zeros(LENGTH, LENGTH).double()
    return [
        (-1.0 * (m - n).abs()[:3, :3], True, "the score is -abs(m - n)"),
        (1.0 * (m * n)[:4, :4], False, "the score is m * n"),
        (free[:5, :5], True, "nothing is rounded, and there are five positions"),
        (free, True, "nothing is rounded"),
        _broken(free, (8, 8), "nothing is rounded and one pair breaks the rule"),
        _broken(free, (4, 2), "nothing is rounded and one pair breaks the rule"),
        *(_broken(zeros, place, "all scores but one are exactly 0") for place in ((8, 8), (8, 4), (3, 8))),
    ]


def _rounded(rng):
    """The same for scores that will be rounded."""
    m, n = torch.arange(LENGTH)[:, None], torch.arange(LENGTH)
    either = 2 * torch.randn(2 * LENGTH, generator=rng).double()  # a number for each distance, left and right apart
    free, zeros = either[m - n], torch.zeros(LENGTH, LENGTH).double()
    last, first = torch.arange(LENGTH).clamp(max=LENGTH - 2), torch.arange(LENGTH).clamp(min=1)
    far, halfway = free.abs() + 20, 5 * 0.1 ** (1.0 + (m - n).abs() % 6).double()
    return [
        (free, True, "the distance counts with its sign"),
        (either[(m - n).abs()], True, "the distance counts without its sign"),
        (either[(m - n).clamp(-3, 3)], True, "the distance counts up to 3"),
        (zeros + 2.5, True, "all scores are the same"),
        (zeros, True, "all scores are 0 but for rounding"),
        (far, True, "the scores are far from 0"),
        (halfway, True, "scores lie halfway between two rounded numbers"),
        (_plus(free, (0, LENGTH - 1), 0.5), True, "the one pair of the largest distance is special"),
        *(_broken(free, place) for place in SINGLE),
        (_plus(_plus(free, (3, 2), 0.5), (6, 5), -0.5), False, "one pair is raised, another lowered"),
        (either[m + n], False, "the sum of the positions counts"),
        (torch.randn(LENGTH, LENGTH, generator=rng).double(), False, "every pair has its own score"),
        (either[last[:, None] - last], False, "the last two positions are the same"),
        (either[first[:, None] - first], False, "the first two positions are the same"),
        (free + 0.3 * (m % 2), False, "every second query is raised"),
        (free * (1 - 2 * (m % 2)), False, "every second query has the other sign"),
        (free + 2e-3 * m, False, "there is a faint trend"),
        (zeros - 0.3 * m, False, "scores fall with the query"),
        (zeros + 0.3 * m, False, "scores rise with the query"),
        (zeros + 0.3 * n, False, "scores rise with the key"),
        _broken(free, (4, 4), "one score is off by a thousandth", off=1.002e-3),
        _broken(far, (5, 4), "the scores are far from 0 and one is off by a thousandth", off=1.002e-3),
    ]


def _broken(table, place, *labels, off=0.5):
    """A table in which one pair breaks the rule."""
    side = (
        "at the same position"
        if place[0] == place[1]
        else f"with {'an earlier' if place[1] < place[0] else 'a later'} key"
    )
    labels = *labels, f"the pair {place} breaks the rule", f"one pair {side} breaks the rule"
    return _plus(table, place, off), False, *labels


def _plus(table, place, number):
    table = table.clone()
    table[place] += number
    return table


def always_the_same(answer):
    """One verdict for everything."""
    values = [seen["value"].get("value") for seen in answer.observed if seen["outcome"] == "returned"]
    if not values or not isinstance(values[0], bool) or any(value is not values[0] for value in values):
        return None
    sentence = f"the test says {values[0]} of every score that was tried."
    return symptom(sentence, "True only after all pairs have been compared.", "always the same")


EXERCISE = Exercise(
    cases,
    returns=("relative",),
    driver="with_a_score",
    symptoms=(
        stops_with(
            "positions run from 0 to",
            "score is asked for a position that does not exist: positions run from 0 to length - 1.",
            "look at the first and the last number of your ranges.",
            "outside",
        ),
        always_the_same,
    ),
    advice="print score(m, n) - score(m - 1, n - 1) for all pairs, and look at its size.",
)
