"""Open experiment: the number of heads against the number of marks."""

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, number, said_of, table_of

MARKS, HEADS = (2, 4), (1, 2, 4, 8)
LAWS = {"1 - heads / marks": lambda m, h: 1 - h / m, "1 / (1 + heads)": lambda m, h: 1 / (1 + h),
        "marks / (marks + heads)": lambda m, h: m / (m + h)}  # fmt: skip


def _possible(results):
    for m, h in _KEYS:
        low, high = (0.75 * (1 - h / m), 1.1 * (1 - h / m)) if h < m else (0.0, 0.2)
        if not low <= (found := mean(results, (m, h))) <= high:
            return f"with {m} marks and {h} head{'s' * (h > 1)} your mean error is {found:.3f}, which such models cannot come to."
    return None


def _enough(results):
    for m in MARKS:
        means = {h: mean(results, (m, h)) for h in HEADS}
        if number(said := results[f"enough for {m} marks"]) != min((h for h in HEADS if means[h] < 0.1), default=None):
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
    runs = {(m, h): [max(1 - h / m, 0.001) * 0.92 + 0.001 * s for s in range(5)] for m, h in _KEYS}
    return runs | {"enough for 2 marks": 2, "enough for 4 marks": 4, "law": "1 - heads / marks"}


_KEYS = [(m, h) for m in MARKS for h in HEADS]
EXPERIMENT = Experiment(
    answer="heads_results", example=_example, claims=(
        Claim("all runs", table_of(_KEYS, 5, 0.0, 1.5), "store five_errors(marks, heads) under (marks, heads)."),
        Claim("possible", _possible, "call five_errors as it is given, with the marks first and the heads second."),
        Claim("enough", _enough, "take the smallest number of heads whose mean error is below 0.1."),
        Claim("law", _law, "work out each law for (2, 1), (4, 1) and (4, 2), and compare with your means."),
    ),
)  # fmt: skip
