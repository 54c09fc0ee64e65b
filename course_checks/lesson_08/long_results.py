"""8.9 · Open experiment: beyond the trained length, without training."""

import math

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, numbers, one_of, table_of

WAYS = {"as trained": (1e4, 1), "squeezed": (1e4, 8), "larger base": (1e6, 1)}
KEYS = [(way, length) for way in WAYS for length in (12, 48, 96)]
# With room on both sides of what thirteen seeds gave. Stretched by 8, the means at 12 and 48 tokens are 0.74 and more; with
# the base 100,000 that at 96 tokens is 0.14 or more.
LIMITS = (0, 0.1), (0.02, 0.35), (0.25, 0.7), (0.55, 0.72), (0.6, 0.745), (0.5, 0.85), (0, 0.3), (0, 0.2), (0, 0.12)


def possible(results):
    for key, (low, high) in zip(KEYS, LIMITS, strict=True):
        if not low <= mean(results, key) <= high:
            sentence = f"for {key!r} your mean is {mean(results, key):.2f}, which such models do not reach"
            return f"{sentence}: are base, squeeze, length in place?"
    trained, larger = (mean(results, (way, 12)) for way in ("as trained", "larger base"))
    if trained > larger:
        sentence = f"at 12 tokens, the trained length, your mean as trained is {trained:.3f}, with the larger base {larger:.3f}"
        return f"{sentence}: other angles than the trained ones cannot do better there. Are the two exchanged?"
    return None


def turns(results):
    for way, (base, squeeze) in WAYS.items():
        turned = numbers(results["turn", way])
        if len(turned) != 2:
            return f"entry {('turn', way)!r} holds {len(turned)} numbers; two pairs are asked for."
        for pair, turn in zip((0, 3), turned, strict=True):
            right = base ** (-2 * pair / 8) / squeeze
            off = abs(turn / right - 1)
            if off > 0.02:
                sentence = f"{way}: for pair {pair} you give the turn {turn:.3g}"
                if turn == 0:
                    return f"{sentence}; it is small, but not 0."
                if math.isclose(turn, base ** (-pair / 8) / squeeze, rel_tol=0.02):
                    return f"{sentence}: the exponent is half as large as it should be."
                if math.isclose(turn, right * squeeze**2, rel_tol=0.02):
                    return f"{sentence}: the positions are multiplied by 8 there, not divided."
                return f"{sentence}, which is rounded too much." if off < 0.2 else f"{sentence}, which is not right."
    return None


def extreme(key, length, pick, word):
    def problem(results):
        wrong = one_of(results, key, WAYS)
        if wrong:
            return wrong
        means = {way: mean(results, (way, length)) for way in WAYS}
        if means[results[key]] == pick(means.values()):
            return None
        listed = ", ".join(f"{way} {value:.2f}" for way, value in means.items())
        return f"with {length} tokens your means are {listed}; {results[key]!r} is not the {word}."

    return Claim(key, problem, f"compare the three means at {length} tokens.")


TURN = "pair i turns by base ** (-2 * i / 8) radians per position; squeezed, by 1/8 of that. Give three digits after the zeros."

EXERCISE = Experiment(
    claims=(
        Claim("all runs", table_of(KEYS, 3, 0.0, 1.0), "store question_1(base, squeeze, length) under (way, length)."),
        Claim(
            "possible", possible, "question_1(10000.0, 8, length) squeezes, question_1(1e6, 1, length) raises the base."
        ),
        Claim("turns", turns, TURN),
        extreme("best at 96", 96, min, "smallest"),
        extreme("worst at 12", 12, max, "largest"),
    ),
)
