"""3.8 · Open experiment: how many letters does a sound need?"""

import itertools

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, numbers, reads_off, table_of

KEPT = ("all", 1, 2, 4, "best hidden")
# The words and the speller are always the same, so the means are known.
USUAL = {"all": 0.081, 1: 0.114, 2: 0.082, 4: 0.081, "best hidden": 1.19}


# What else a number tells: key, from, to, and what keep may have done.
SLIPS = (
    (1, 0.075, 0.09, "Two letters give about your number: does keep let one more through than it should?"),
    (2, 0.105, 0.125, "One letter gives about your number: does keep look at k?"),
    ("best hidden", 0.0, 0.2, "Is the best letter of every word of the batch taken away?"),
    ("best hidden", 1.29, 1.41, "The second-best letter alone gives about it: all but the best should stay."),
)


def usual(results):
    """Near what this speller gives: a function ``keep`` that lets other letters through gives other rates."""
    for key in KEPT:
        rate, right = mean(results, key), USUAL[key]
        if abs(rate - right) > 0.08 * right:
            known = f"with this speller and these words it is near {right:.3g}."
            slips = [slip for name, low, high, slip in SLIPS if name == key and low <= rate <= high]
            return " ".join([f"the mean error rate of {key!r} is {rate:.3f}; {known}", *slips])
    return None


def exchanged(results):
    """Two rows that would be right under each other's name."""
    if usual(results) is None:
        return None
    for first, second in itertools.combinations(KEPT, 2):
        if usual(results | {first: results[second], second: results[first]}) is None:
            return (
                f"the rows of {first!r} and {second!r} look exchanged: turned round they are what this speller gives."
            )
    return None


def nothing_left(results):
    """Weights of which none is kept are 0 / 0, and nothing is said."""
    everything = set(numbers(results[1])) == {1.0}
    return "entry 1 is 1 in every sample: no sound is right. Is any weight left?" if everything else None


def enough(results):
    return min((k for k in (1, 2, 4) if mean(results, k) <= mean(results, "all") + 0.005), default=0)


def worse_with_one(results):
    return sum(one > every for one, every in zip(numbers(results[1]), numbers(results["all"]), strict=True))


def hiding(results):
    return mean(results, "best hidden") / mean(results, 1)


PRINT = "print what keep makes of one row of weights, also in a batch: how many are not 0, and which?"
RUNS = "give each key the list that five_runs returns."
ENOUGH = "compare each row's mean with that of 'all', plus 0.005."

EXERCISE = Experiment(
    claims=(
        Claim("nothing left", nothing_left, PRINT),
        Claim("all runs", table_of(KEPT, 5, 0.0, 10.0), RUNS),
        Claim("exchanged", exchanged, "'all' keeps every weight; 1, 2 and 4 say how many are kept."),
        Claim("usual", usual, PRINT),
        reads_off("enough", enough, ENOUGH),
        reads_off("worse with one", worse_with_one, "go through the two rows together, sample by sample."),
        reads_off("hiding against one", hiding, "divide the mean of 'best hidden' by the mean of 1.", slack=0.05),
    )
)
