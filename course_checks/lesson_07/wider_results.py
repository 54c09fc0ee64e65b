"""7.9 · Experiment: what is too narrow?"""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, means_within, number, numbers, one_of, table_of

SETTINGS = ("plain", "key", "value")
# Means of three seeds after 720 updates, with room on both sides of what six seeds gave.
RANGES = {"plain": (0.55, 0.82), "key": (0.6, 0.83), "value": (0.8, 0.96)}
LEVEL = (3 + 1 / 6) / 4


def impossible(setting, share):
    return f"in the setting {setting!r} your mean is {share:.2f}, which such models do not come to after 720 updates."


def each_its_own(results):
    rows = [tuple(numbers(results[setting])) for setting in SETTINGS]
    same = next(((a, b) for b in range(3) for a in range(b) if rows[a] == rows[b]), None)
    if same is None:
        return None
    return f"entries {SETTINGS[same[0]]!r} and {SETTINGS[same[1]]!r} hold the same numbers, which no two settings give."


def three_solved(results):
    value = number(results["three solved"])
    fits = abs(value - LEVEL) < 0.005
    return (
        None if fits else f"results['three solved'] is {value:.3g}; with three lookups done and one guessed it differs."
    )


def above(results):
    answer = results["above"]
    if not isinstance(answer, list | tuple) or not set(answer) <= set(SETTINGS):
        return f"entry 'above' is {answer!r}; it must be a list of settings, such as ['plain', 'key']."
    right = {setting for setting in SETTINGS if min(numbers(results[setting])) > LEVEL + 0.02}
    listed = ", ".join(f"{setting} {min(numbers(results[setting])):.2f}" for setting in SETTINGS)
    return None if set(answer) == right else f"you say {answer!r}; the worst of each three is {listed}."


def narrower(results):
    wrong = one_of(results, "too narrow", ("key", "value"))
    if wrong:
        return wrong
    means = {setting: mean(results, setting) for setting in ("key", "value")}
    if results["too narrow"] == max(means, key=means.get):
        return None
    return f"with a wider key your mean is {means['key']:.2f}, with a wider value {means['value']:.2f}."


EXERCISE = Experiment(
    claims=(
        Claim(
            "all runs", table_of(SETTINGS, 3, 0.3, 1.0), "three seeds for each of the three settings, 720 updates each."
        ),
        Claim("each its own", each_its_own, "make a new model for each setting, with the sizes of that setting."),
        Claim(
            "possible",
            means_within(RANGES, impossible),
            "train for 720 updates, keep the last accuracy that train yields, and look at key_size and value_size.",
        ),
        Claim("three solved", three_solved, "one of six guesses is right: (3 + 1/6) / 4."),
        Claim("above", above, "compare min(...) of each list with the level plus 0.02."),
        Claim("too narrow", narrower, "which of the two, made wider alone, lifts the mean more?"),
    ),
)
