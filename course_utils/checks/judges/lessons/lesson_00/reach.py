"""Open experiment: how far influence reaches."""

from statistics import median

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, numbers, reads_off, table_of

LENGTHS = (4, 8, 16, 32)
KEYS = [(kind, n) for kind in ("recurrence", "attention") for n in LENGTHS]


def _example():
    rows = {(kind, n): [s / n ** (1 if kind == "attention" else n / 3) for s in (0.6, 0.9, 1.1)] for kind, n in KEYS}
    return {key: [*row, 1.2 * row[0], row[1] / 2] for key, row in rows.items()} | {
        "fades at": 8, "attention loses": 8.0, "below equal": 4}  # fmt: skip


def _possible(reach):
    for kind, low, high in (("recurrence", 0.0, 0.001), ("attention", 0.0003, 0.3)):
        if not low <= mean(reach, (kind, 32)) <= high:
            return f"{kind} leaves the first of 32 tokens {mean(reach, (kind, 32)):.1g} on average: a fresh layer does not."
    return None


def _median(reach, *key):
    return median(numbers(reach[key]))


EXPERIMENT = Experiment("reach", _example, (
    Claim("all runs", table_of(KEYS, 5, 0.0, 1.0), "run both layers at 4, 8, 16 and 32 tokens, five seeds each."),
    Claim("possible", _possible, "make a fresh layer for every seed, hand n on, and keep each kind under its own name."),
    reads_off("fades at", lambda reach: next(n for n in LENGTHS if _median(reach, "recurrence", n) < 0.1 / n),
              "take the first n at which the recurrence's median is below 0.1 / n."),
    reads_off("attention loses", lambda reach: _median(reach, "attention", 4) / _median(reach, "attention", 32),
              "divide attention's median at 4 by its median at 32.", slack=0.03),
    reads_off("below equal", lambda reach: sum(share < 1 / 32 for share in numbers(reach["attention", 32])),
              "count the runs of attention at 32 whose share is below 1 / 32."),
))  # fmt: skip
