"""Relative or absolute? A property test on scores that are given as a table."""

import math
import operator

import torch

from ...exercise import Case, Exercise, Fault
from ...kit.parts import faults_of
from ...symptoms.view import Told

LENGTH = 9
SINGLE = (
    (5, 2),
    (3, 6),
    (0, 0),
    (8, 8),
    (8, 3),
    (2, 8),
    (1, 0),
    (0, 1),
    (4, 4),
    (6, 7),
    (8, 1),
    (0, 7),
)  # pairs that break the rule


def _plus(table, *changes):
    table = table.clone()
    for place, number in changes:
        table[place] += number
    return table


def _broken(table, place, *labels, off=0.5):
    """A table in which one pair breaks the rule."""
    m, n = place
    side = "at the same position" if m == n else f"with {'an earlier' if n < m else 'a later'} key"
    labels = (f"the pair {place} breaks the rule", f"one pair {side} breaks the rule", *labels)
    return labels, _plus(table, (place, off)), False


def _exact(rng):
    """Labels, scores without rounding, and whether they depend on the distance only; the smallest first."""
    m, n = torch.arange(LENGTH)[:, None], torch.arange(LENGTH)
    free, zeros = torch.randn(2 * LENGTH, generator=rng).double()[m - n], torch.zeros(LENGTH, LENGTH).double()
    return [
        (("the score is -abs(m - n)",), -1.0 * (m - n).abs()[:3, :3], True),
        (("the score is m * n",), 1.0 * (m * n)[:4, :4], False),
        (("nothing is rounded, and there are five positions",), free[:5, :5], True),
        (("nothing is rounded",), free, True),
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
    return [
        (("the distance counts with its sign",), free, True),
        (("the distance counts without its sign",), either[(m - n).abs()], True),
        (("the distance counts up to 3",), either[(m - n).clamp(-3, 3)], True),
        (("all scores are the same",), zeros + 2.5, True),
        (("all scores are 0 but for rounding",), zeros, True),
        (("the scores are far from 0",), free.abs() + 20, True),
        (("scores lie halfway between two rounded numbers",), 5 * 0.1 ** (1.0 + (m - n).abs() % 6).double(), True),
        (("the one pair of the largest distance is special",), _plus(free, ((0, LENGTH - 1), 0.5)), True),
        *(_broken(free, place) for place in SINGLE),
        (("one pair is raised, another lowered",), _plus(free, ((3, 2), 0.5), ((6, 5), -0.5)), False),
        (("the sum of the positions counts",), either[m + n], False),
        (("every pair has its own score",), torch.randn(LENGTH, LENGTH, generator=rng).double(), False),
        (("the last two positions are the same",), either[last[:, None] - last], False),
        (("the first two positions are the same",), either[first[:, None] - first], False),
        (("every second query is raised",), free + 0.3 * (m % 2), False),
        (("every second query has the other sign",), free * (1 - 2 * (m % 2)), False),
        (("there is a faint trend",), free + 2e-3 * m, False),
        (("scores fall with the query",), zeros - 0.3 * m, False),
        (("scores rise with the query",), zeros + 0.3 * m, False),
        (("scores rise with the key",), zeros + 0.3 * n, False),
        _broken(free, (4, 4), "one score is off by a thousandth", off=1.002e-3),
        _broken(free.abs() + 20, (5, 4), "the scores are far from 0 and one is off by a thousandth", off=1.002e-3),
    ]


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(*labels, scores=table, length=len(table)) for labels, table, _ in _exact(rng)]
    for labels, table, _ in _rounded(rng):  # as by float32, the same on every machine
        noise = 8e-7 * (torch.rand(LENGTH, LENGTH, generator=rng).double() - 0.5)
        cases.append(Case(*labels, scores=table + noise, length=LENGTH))
    return cases


def distance_only(
    score, length, *,
    pairs=lambda m, n, length: True, partners=lambda m, n: [(m - 1, n - 1)],
    close=lambda a, b: abs(a - b) < 1e-4, verdict=all,
):  # fmt: skip
    """Whether the score of each pair is that of its partner; each keyword is one step."""
    found = [
        close(score(m, n), score(*other))
        for m in range(length)
        for n in range(length)
        for other in partners(m, n)
        if pairs(m, n, length) and all(0 <= place < length for place in other)
    ]
    return verdict(found)


def _means(score, length):
    lines = [[score(n + d, n) for n in range(length) if 0 <= n + d < length] for d in range(1 - length, length)]
    return all(abs(sum(line) / len(line) - line[0]) < 1e-4 for line in lines)


def _spreads(score, length):
    table = torch.tensor([[score(m, n) for n in range(length)] for m in range(length)]).double()
    return all(table.diagonal(d).std(unbiased=False) < 5e-4 for d in range(1 - length, length))


def asks_outside(view):
    """``score`` was asked for a position that there is not (the probe's own words)."""
    seen = view.cases[view.first]
    if seen["outcome"] != "raised" or not seen["message"].startswith("score("):
        return None
    said = "score is asked for a position that does not exist: positions run from 0 to length - 1."
    advice = "if you look one step ahead, stop one earlier; one step back, begin one later."
    return Told("symptom", "outside", said, advice)


def always_the_same(view):
    """One verdict for everything."""
    values = [case["value"].get("value") for case in view.cases if case["outcome"] == "returned"]
    if not values or not isinstance(value := values[0], bool) or any(other is not value for other in values):
        return None
    said = f"the test says {value} of every score that was tried."
    advice = "return False where two scores of one distance differ; True only after all pairs have been compared."
    return Told("symptom", f"always {value}", said, advice)


_ALL = "go over all pairs m and n, each from 1 to length - 1, and compare (m, n) with (m - 1, n - 1)."
_TOGETHER = "move query and key together, in the same direction: (m - 1, n - 1)."
_DIFFERENCE = "take the difference first, and compare its absolute value with a tolerance such as 1e-4."

EXERCISE = Exercise(
    answer="distance_only", cases=_cases, reference=distance_only, returns=("relative",),
    symptoms=(asks_outside, always_the_same), faults=(
        Fault("answer turned around", "the answers are the wrong way round: True for what is not relative.",
            "return True if no two scores of one distance differ.", verdict=lambda found: not all(found)),
        Fault("exact comparison", "numbers compared exactly, or nearly so: rounding passes for a difference.",
            "allow a small absolute difference, such as 1e-4.", close=operator.eq),
        Fault("relative tolerance", "a tolerance in proportion to the score: where scores are near 0, rounding passes "
            "for a difference.", "allow a small absolute difference, such as 1e-4 (for torch.allclose and its kin: "
            "atol=1e-4).", close=lambda a, b: abs(a - b) <= 1e-5 * abs(b) + 1e-8),
        *(Fault(f"relative tolerance {share}", "a tolerance in proportion to the score: near 0 rounding passes for a "
                "difference, and far from 0 a difference passes for rounding.", "allow a small absolute difference, such as "
                "1e-4 (for math.isclose and its kin: rel_tol=0.0, abs_tol=1e-4).",
                close=lambda a, b, share=share: math.isclose(a, b, rel_tol=share)) for share in (1e-4, 1e-3)),
        Fault("tolerance that grows", "the tolerance grows with the scores: a thousandth passes where they are large.",
            "an absolute tolerance alone: atol=1e-4 and rtol=0.0.", close=lambda a, b: abs(a - b) <= 1e-5 + 1e-4 * abs(b)),
        Fault("too generous", "differences of several thousandths pass for rounding.",
            "rounding is about a millionth here: a tolerance near 1e-4 is enough.", close=lambda a, b: abs(a - b) < 0.1),
        Fault("rounded", "both scores are rounded and then compared: two that lie close to a rounding border come out "
            "different.", _DIFFERENCE, close=lambda a, b: round(a, 4) == round(b, 4)),
        Fault("size without sign", "only the sizes of the scores are compared, not their signs.",
            "take the difference first, then its absolute value.", close=lambda a, b: abs(abs(a) - abs(b)) < 1e-4),
        Fault("no absolute value", "the difference is compared without its absolute value: a score that falls goes "
            "unnoticed.", "take abs(...) of the difference.", close=lambda a, b: a - b < 1e-4),
        Fault("mean of each distance", "the mean score of each distance is compared: differences up and down cancel.",
            "compare the scores one by one.", whole=_means),
        Fault("spread of each distance", "one score that is off by a thousandth passes: the tolerance is too large, or it is "
            "put to a standard deviation, where one score is lost among the others.",
            "compare the scores one by one, to 1e-4.", whole=_spreads),
        Fault("past only", "only keys at or before the query are compared; a difference for later keys goes unnoticed.",
            "go over all pairs, n > m too.", pairs=lambda m, n, L: n <= m),
        Fault("future only", "only keys at or after the query are compared; a difference for earlier keys goes unnoticed.",
            "go over all pairs, n < m too.", pairs=lambda m, n, L: n >= m),
        Fault("distance 0 only", "only query and key at the same place are compared.", _ALL, pairs=lambda m, n, L: m == n),
        Fault("neighbors only", "only neighbors are compared.", _ALL, pairs=lambda m, n, L: abs(m - n) == 1),
        Fault("first two of each distance", "for each distance only the first two pairs are compared, not those further on.",
            "go on to the last position: m and n up to length - 1.", pairs=lambda m, n, L: min(m, n) == 1),
        Fault("last position left out", "the last position plays no part.", "range(1, length) ends at length - 1.",
            pairs=lambda m, n, L: m < L - 1 and n < L - 1),
        Fault("first position left out", "position 0 plays no part.", "compare (1, n) with (0, n - 1) as well.",
            pairs=lambda m, n, L: m > 1 and n > 1),
        Fault("query from 2 on", "the queries begin too late: (1, n) is never compared with (0, n - 1).",
            "begin both ranges with 1.", pairs=lambda m, n, L: m > 1),
        *faults_of("partners", _TOGETHER,
            ("two steps",
             "pairs two steps apart are compared; what alternates from position to position goes unnoticed.",
             lambda m, n: [(m - 2, n - 2)], "compare (m, n) with (m - 1, n - 1)."),
            ("distance without sign",
             "scores of m - n and n - m are expected to be equal; a relative score may tell them apart.",
             lambda m, n: [(m - 1, n - 1), (n, m)],
             "the distance has a sign: compare (m, n) with (m - 1, n - 1) only."),
            ("symmetry", "score(m, n) is compared with score(n, m): that tests symmetry.", lambda m, n: [(n, m)],
             "keep m - n the same, and move both: (m - 1, n - 1)."),
            ("key moved alone", "only the key is moved, so the distance changes too.", lambda m, n: [(m, n - 1)]),
            ("query moved alone", "only the query is moved, so the distance changes too.", lambda m, n: [(m - 1, n)]),
            ("moved against each other", "query and key are moved in opposite directions: that keeps m + n, not m - n.",
             lambda m, n: [(m - 1, n + 1)])),
        Fault("decided at once", "the function returns after the first comparison.",
            "return False at a difference, and True only after both loops.", verdict=lambda found: found[0]),
        Fault("decided by the last", "each comparison overwrites the one before, and only the last one counts.",
            "return False as soon as two scores differ.", verdict=lambda found: found[-1]),
    ), advice="print score(m, n) - score(m - 1, n - 1) for all pairs, and look at its size.",
)  # fmt: skip
