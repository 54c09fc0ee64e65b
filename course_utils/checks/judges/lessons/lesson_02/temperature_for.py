"""The temperature at which a given number of keys count."""

import math

import torch

from ...exercise import Case, Exercise
from ...kit.parts import faults_of


def _entropy(weights):
    return torch.special.entr(weights).sum(-1)


def temperature_for(
    scores, count, *, weigh=lambda s: s.softmax(-1), measure=lambda w: _entropy(w).exp(),
    scale=lambda s, t: s / t, fewer=lambda keys, count: keys < count, ends=(0.01, 100.0), steps=40, finish=torch.exp,
):  # fmt: skip
    """Bisection on the logarithm, for every row."""
    low, high = (torch.full_like(scores[:, 0], math.log(end)) for end in ends)
    for _ in range(steps):
        middle = (low + high) / 2
        below = fewer(measure(weigh(scale(scores, middle.exp()[:, None]))), count)
        low, high = torch.where(below, middle, low), torch.where(below, high, middle)
    return finish(high)


def _cases(seed):
    rng = torch.Generator().manual_seed(seed)
    cases = [Case(scores=torch.tensor([[0.0, 1.0, 2.0]]), count=2.0)]
    for (L_q, L_k), count in (((3, 5), 2.5), ((5, 7), 4.0), ((4, 4), 1.8), ((5, 7), 1.5)):
        spread = torch.linspace(0.3, 6.0, L_q)[:, None]  # every row has a temperature of its own
        scores = torch.arange(L_k) / 2 + 0.4 * torch.rand(L_q, L_k, generator=rng)  # no two keys tie
        order = torch.randperm(L_k, generator=rng)
        cases.append(Case(scores=spread * scores[:, order] + 40 * (spread - 2), count=count))
    ties, wide = [[1.0, 1.0, 1.0, 0.0], [3.0, 2.0, 0.0, 1.0]], [[0.0, 900.0, 400.0], [1.0, 0.0, 2.0]]
    return cases + [Case("no temperature fits", scores=torch.tensor(s), count=c) for s, c in ((ties, 2.0), (wide, 2.9))]


EXERCISE = Exercise(
    answer="temperature_for", cases=_cases, reference=temperature_for, returns=("temperature",), rtol=2e-3, faults=(
        *faults_of("measure", "count the keys as e to the entropy: torch.special.entr(weights).sum(-1).exp().",
            ("entropy itself", "the entropy was brought to `count`, not e to the entropy.", _entropy),
            ("bits", "e to an entropy in bits: base 2 needs 2 to its power.", lambda w: (_entropy(w) / math.log(2)).exp()),
            ("base mixed up", "2 to the power of an entropy in natural logarithms.", lambda w: _entropy(w).exp2()),
            ("not a number", "a search that runs to an end, most likely by w * log(w): NaN where w is 0, and no "
             "comparison with NaN is True.",
             lambda w: (-(w * w.log()).sum(-1)).exp()),
            ("sum of squares", "keys counted as one over the sum of squared weights.", lambda w: 1 / w.square().sum(-1))),
        *faults_of("fewer", "too few keys count: that row's temperature must rise. Keep two ends for every row (torch.where).",
            ("wrong way", "the search goes the wrong way and ends at one end.", lambda keys, count: keys > count),
            ("one for all", "one search for all rows: they share the mean of their keys.",
             lambda keys, count: (keys.mean() < count).expand(keys.shape))),
        *faults_of("finish", "return the temperature itself, by which the scores are divided.",
            ("inverse", "one over the temperature: the factor that multiplies the scores.", lambda t: (-t).exp()),
            ("root", "the root of the temperature: that would be a bandwidth.", lambda t: (t / 2).exp())),
        *faults_of("steps", "halve what is left at least 25 times, on the logarithm of the temperature.",
            *((f"{n} steps", "the search stops too early for T to be right to a thousandth of itself.", n) for n in (8, 10, 12))),
        *faults_of("scale", "divide the scores by T: a higher temperature lets more keys count.",
            ("multiplied", "the scores are multiplied by T, so a larger T lets fewer keys count.", lambda s, t: s * t)),
        *faults_of("ends", "search between 0.01 and 100; where `count` is out of reach, return the end.",
            *((f"{low:g} to {high:g}", f"a search from {low:g} to {high:g}.", (low, high))
              for low, high in ((0.01, 10.0), (0.1, 100.0), (1.0, 100.0), (1e-6, 100.0), (0.01, 1e6), (1e-6, 1e6)))),
    ), advice="for the scores 0, 1, 2 and T = 0.7541 two keys count (e to the entropy). If your T is near, search longer.",
)  # fmt: skip
