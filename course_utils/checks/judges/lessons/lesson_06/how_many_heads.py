"""Open experiment: the number of heads against the number of marks."""

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, number, numbers, said_of, table_of

MARKS, HEADS = (2, 4), (1, 2, 4, 8)
# Means of five_errors after 200 updates, with room on both sides of what nine sets of seeds gave. After 100 updates (4, 1)
# has 0.70 or more and (4, 8) 0.09 or more.
_RANGES = {(2, 1): (0.45, 0.475), (2, 2): (0, 0.05), (2, 4): (0, 0.05), (2, 8): (0, 0.05),
           (4, 1): (0.66, 0.69), (4, 2): (0.38, 0.48), (4, 4): (0, 0.05), (4, 8): (0, 0.06)}  # fmt: skip
LAWS = {"1 - heads / marks": lambda m, h: 1 - h / m, "1 / (1 + heads)": lambda m, h: 1 / (1 + h),
        "marks / (marks + heads)": lambda m, h: m / (m + h)}  # fmt: skip


def _possible(results):
    for (m, h), (low, high) in _RANGES.items():
        if not low <= (found := mean(results, (m, h))) <= high:
            said = f"with {m} marks and {h} head{'s' * (h > 1)} your mean error is {found:.3f}"
            return f"{said}, which such models do not come to after 200 updates."
    return None


def _each_its_own(results):
    rows = {}
    for key in _KEYS:
        row = tuple(numbers(results[key]))
        if row in rows:
            return f"entries {rows[row]} and {key} hold the same five numbers, which no two runs give."
        rows[row] = key
    return None


def _enough(results):
    for m in MARKS:
        means, key = {h: mean(results, (m, h)) for h in HEADS}, f"enough for {m} marks"
        if isinstance(said := results[key], str):
            return f"entry {key!r} is the text {said!r}; it must be a number, without quotes."
        if number(said) != min((h for h in HEADS if means[h] < 0.1), default=None):
            errors = ", ".join(f"{error:.3f}" for error in means.values())
            return f"you say {said} enough for {m} marks; your mean errors with 1, 2, 4, 8 are {errors}."
    return None


def _law(results):
    found = {(m, h): mean(results, (m, h)) for m, h in ((2, 1), (4, 1), (4, 2))}
    off = {law: sum(abs(found[pair] - says(*pair)) for pair in found) for law, says in LAWS.items()}
    if wrong := said_of(results, "law", LAWS):
        return wrong
    mine, least = off[results["law"]], min(off.values())
    return f"your law is off by {mine:.2f} in all; another only by {least:.2f}." if mine > least else None


def _example():
    means = {(2, 1): 0.46, (4, 1): 0.674, (4, 2): 0.443}
    runs = {(m, h): [means.get((m, h), 0.0001 * (m + h)) + 0.001 * s for s in range(5)] for m, h in _KEYS}
    return runs | {"enough for 2 marks": 2, "enough for 4 marks": 4, "law": "1 - heads / marks"}


_KEYS = [(m, h) for m in MARKS for h in HEADS]
EXPERIMENT = Experiment(
    answer="heads_results", example=_example, claims=(
        Claim("all runs", table_of(_KEYS, 5, 0.0, 1.5), "store five_errors(marks, heads) under (marks, heads)."),
        Claim("each its own", _each_its_own, "call five_errors anew for each of the eight entries."),
        Claim("possible", _possible, "call five_errors(marks, heads), marks first, heads second, with no third argument."),
        Claim("enough", _enough, "take the smallest number of heads whose mean error is below 0.1."),
        Claim("law", _law, "work out each law for (2, 1), (4, 1) and (4, 2), and compare with your means."),
    ),
)  # fmt: skip
