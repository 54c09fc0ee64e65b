"""Open experiment: error of kernel regression by number of points and bandwidth."""

import math

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, reads_off, table_of

POINTS, BANDWIDTHS = (10, 40, 160, 640), (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
KEYS = [(n, h) for n in POINTS for h in (*BANDWIDTHS, "mean")]


def _readings(results):
    """What follows from a table."""
    best = {f"best at {n}": min(BANDWIDTHS, key=lambda h, n=n: mean(results, (n, h))) for n in (10, 640)}
    gains = {f"gain at {h}": mean(results, (10, h)) / mean(results, (640, h)) for h in (0.1, 1.6)}
    enough = [n for n in POINTS if mean(results, (n, 0.2)) < mean(results, (640, 1.6))]
    return best | gains | {"enough points at 0.2": min(enough, default=0)}


def _example():
    """Noise falls with the points and the bandwidth, bias grows with the bandwidth alone."""
    error = {(n, h): 0.55 * (1 - math.exp(-2 * h**2)) + 0.4 / n**0.75 / h**0.5 for n in POINTS for h in BANDWIDTHS}
    error |= {(n, "mean"): 1.2 for n in POINTS}
    rows = {key: [one * error[key] for one in (0.8, 0.9, 1.0, 1.1, 1.2)] for key in error}
    return rows | _readings(rows)


def _possible(results):
    """A lookup with a fitting bandwidth gains from points; one that is far too wide cannot follow the curve."""
    if not mean(results, (640, 0.1)) < mean(results, (10, 0.1)) / 5:
        return "with bandwidth 0.1, 640 points are hardly better than 10 by your numbers."
    for n, h, low, high in ((640, 1.6, 0.35, 0.65), *((n, "mean", 0.85, 2.0) for n in POINTS)):
        if not low < (found := mean(results, (n, h))) < high:
            return f"entry {(n, h)!r} is {found:.3g} on average, which cannot be."
    return None


_READINGS = ("best at 10", "best at 640", "gain at 0.1", "gain at 1.6", "enough points at 0.2")
_MEANS = "take the mean of the five errors of an entry first; a gain is the error at 10 points divided by that at 640."

EXPERIMENT = Experiment(
    answer="curve_results", example=_example, claims=(
        Claim("all runs", table_of(KEYS, 5, 1e-4, 9.0), "run every number of points with every bandwidth, five seeds each."),
        Claim("possible", _possible, "does every run get its own n, seed and bandwidth, and (n, 'mean') the mean_error?"),
        *(reads_off(key, lambda results, key=key: _readings(results)[key], _MEANS, slack=0.02) for key in _READINGS),
    ),
)  # fmt: skip
