"""0.9 · How far does influence reach?"""

from statistics import median

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import means_within, numbers, reads_off, table_of

LENGTHS = (4, 8, 16, 32)
KEYS = [(kind, n) for kind in ("recurrence", "attention") for n in LENGTHS]


possible = means_within(
    {("recurrence", 32): (0.0, 0.001), ("attention", 32): (0.0003, 0.3)},
    lambda key, share: f"{key[0]} leaves the first of 32 tokens {share:.1g} on average: a fresh layer does not.",
)


def middle(reach, kind, n):
    return median(numbers(reach[kind, n]))


EXERCISE = Experiment(
    claims=(
        Claim(
            "all runs",
            table_of(KEYS, 5, 0.0, 1.0),
            "give each layer and length five shares from 0 to 1, one for each seed.",
        ),
        Claim(
            "possible", possible, "make a fresh layer for every seed, hand n on, and keep each kind under its own name."
        ),
        reads_off(
            "fades at",
            lambda reach: next(n for n in LENGTHS if middle(reach, "recurrence", n) < 0.1 / n),
            "take the first n at which the recurrence's median is below 0.1 / n.",
        ),
        reads_off(
            "attention loses",
            lambda reach: middle(reach, "attention", 4) / middle(reach, "attention", 32),
            "divide attention's median at 4 by its median at 32.",
            slack=0.03,
        ),
        reads_off(
            "below equal",
            lambda reach: sum(share < 1 / 32 for share in numbers(reach["attention", 32])),
            "count the runs of attention at 32 whose share is below 1 / 32.",
        ),
    )
)
