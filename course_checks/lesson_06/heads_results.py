"""6.8 · Open experiment: how many heads does a task need?"""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import each_its_own, mean, means_within, number, one_of, table_of

MARKS, HEADS = (2, 4), (1, 2, 4, 8)
KEYS = [(m, h) for m in MARKS for h in HEADS]
# Means of five_errors after 200 updates, with room on both sides of what nine sets of seeds gave. After 100 updates (4, 1)
# has 0.70 or more and (4, 8) 0.09 or more.
RANGES = dict.fromkeys(KEYS, (0, 0.05)) | {
    (2, 1): (0.45, 0.475),
    (4, 1): (0.66, 0.69),
    (4, 2): (0.38, 0.48),
    (4, 8): (0, 0.06),
}
LAWS = {
    "1 - heads / marks": lambda m, h: 1 - h / m,
    "1 / (1 + heads)": lambda m, h: 1 / (1 + h),
    "marks / (marks + heads)": lambda m, h: m / (m + h),
}


def impossible(key, error):
    what = f"with {key[0]} marks and {key[1]} head{'s' * (key[1] > 1)} your mean error is {error:.3f}"
    return f"{what}, which such models do not come to after 200 updates."


def enough(results):
    for m in MARKS:
        means, key = {h: mean(results, (m, h)) for h in HEADS}, f"enough for {m} marks"
        if isinstance(results[key], str):
            return f"entry {key!r} is the text {results[key]!r}; it must be a number, without quotes."
        if number(results[key]) != min((h for h in HEADS if means[h] < 0.1), default=None):
            errors = ", ".join(f"{error:.3f}" for error in means.values())
            return f"you say {results[key]} enough for {m} marks; your mean errors with 1, 2, 4, 8 are {errors}."
    return None


def law(results):
    means = {(m, h): mean(results, (m, h)) for m, h in ((2, 1), (4, 1), (4, 2))}
    off = {text: sum(abs(means[pair] - predicts(*pair)) for pair in means) for text, predicts in LAWS.items()}
    if wrong := one_of(results, "law", LAWS):
        return wrong
    mine, least = off[results["law"]], min(off.values())
    return f"your law is off by {mine:.2f} in all; another only by {least:.2f}." if mine > least else None


EXERCISE = Experiment(
    claims=(
        Claim("all runs", table_of(KEYS, 5, 0.0, 1.5), "store five_errors(marks, heads) under (marks, heads)."),
        Claim("each its own", each_its_own(KEYS), "call five_errors anew for each of the eight entries."),
        Claim(
            "possible",
            means_within(RANGES, impossible),
            "call five_errors(marks, heads), marks first, heads second, with no third argument.",
        ),
        Claim("enough", enough, "take the smallest number of heads whose mean error is below 0.1."),
        Claim("law", law, "work out each law for (2, 1), (4, 1) and (4, 2), and compare with your means."),
    )
)
