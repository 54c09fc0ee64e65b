"""Open experiment: RoPE beyond the trained length, positions squeezed or the base raised."""

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, numbers, said_of, table_of

WAYS = {"as trained": (1e4, 1), "squeezed": (1e4, 8), "larger base": (1e6, 1)}
LENGTHS = (12, 48, 96)
_KEYS = [(way, length) for way in WAYS for length in LENGTHS]
# With room on both sides of what thirteen seeds gave. Stretched by 8, the means at 12 and 48 tokens are 0.74 and more; with
# the base 100,000 that at 96 tokens is 0.14 or more.
_RANGES = {("as trained", 12): (0, 0.1), ("as trained", 48): (0.02, 0.35), ("as trained", 96): (0.25, 0.7),
           ("squeezed", 12): (0.55, 0.72), ("squeezed", 48): (0.6, 0.745), ("squeezed", 96): (0.5, 0.85),
           ("larger base", 12): (0, 0.3), ("larger base", 48): (0, 0.2), ("larger base", 96): (0, 0.12)}  # fmt: skip


def _possible(results):
    for key, (low, high) in _RANGES.items():
        if not low <= (found := mean(results, key)) <= high:
            return f"for {key!r} your mean is {found:.2f}, which such models do not reach: are base, squeeze, length in place?"
    trained, larger = (mean(results, (way, 12)) for way in ("as trained", "larger base"))
    if trained > larger:
        said = f"at 12 tokens, the trained length, your mean as trained is {trained:.3f}, with the larger base {larger:.3f}"
        return f"{said}: other angles than the trained ones cannot do better there. Are the two exchanged?"
    return None


def _turns(results):
    for way, (base, squeeze) in WAYS.items():
        found = numbers(results["turn", way])
        if len(found) != 2:
            return f"entry {('turn', way)!r} holds {len(found)} numbers; two pairs are asked for."
        for pair, turn in zip((0, 3), found, strict=True):
            off = abs(turn / (base ** (-2 * pair / 8) / squeeze) - 1)
            if off > 0.02:
                said = f"{way}: for pair {pair} you give the turn {turn:.3g}"
                return f"{said}, which is rounded too much." if off < 0.2 else f"{said}, which is not right."
    return None


def _best(results):
    return _extreme(results, "best at 96", 96, min, "smallest")


def _worst(results):
    return _extreme(results, "worst at 12", 12, max, "largest")


def _extreme(results, key, length, pick, word):
    if wrong := said_of(results, key, WAYS):
        return wrong
    means = {way: mean(results, (way, length)) for way in WAYS}
    if means[results[key]] == pick(means.values()):
        return None
    listed = ", ".join(f"{way} {one:.2f}" for way, one in means.items())
    return f"with {length} tokens your means are {listed}; {results[key]!r} is not the {word}."


def _example():
    means = {"as trained": (0.0, 0.14, 0.45), "squeezed": (0.68, 0.73, 0.74), "larger base": (0.01, 0.04, 0.05)}
    runs = {
        (way, n): [m + 0.003 * s for s in range(3)] for way in WAYS for n, m in zip(LENGTHS, means[way], strict=True)
    }
    turns = {("turn", way): [base ** (-2 * i / 8) / squeeze for i in (0, 3)] for way, (base, squeeze) in WAYS.items()}
    return runs | turns | {"best at 96": "larger base", "worst at 12": "squeezed"}


EXPERIMENT = Experiment(
    answer="long_results", example=_example, claims=(
        Claim("all runs", table_of(_KEYS, 3, 0.0, 1.0), "store question_1(base, squeeze, length) under (way, length)."),
        Claim("possible", _possible, "question_1(10000.0, 8, length) squeezes, question_1(1e6, 1, length) raises the base."),
        Claim("turns", _turns, "pair i turns by base ** (-2 * i / 8) radians per position; squeezed, a token is 1/8 of a "
            "position. Give three digits or more."),
        Claim("best at 96", _best, "compare the three means at 96 tokens."),
        Claim("worst at 12", _worst, "compare the three means at 12 tokens."),
    ),
)  # fmt: skip
