"""2.8 · Open experiment: more points, or a better bandwidth?"""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, reads_off, table_of

POINTS, BANDWIDTHS = (10, 40, 160, 640), (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
KEYS = [(n, h) for n in POINTS for h in (*BANDWIDTHS, "mean")]


def turned(results):
    if any((h, n) in results and (n, h) not in results for n, h in KEYS):
        return "your keys are (bandwidth, points); asked for is (points, bandwidth), such as (10, 0.4)."
    return None


def possible(results):
    """A lookup with a fitting bandwidth gains from points; one that is far too wide cannot follow the curve."""
    if not mean(results, (640, 0.1)) < mean(results, (10, 0.1)) / 5:
        return "with bandwidth 0.1, 640 points are hardly better than 10 by your numbers."
    for n, h, low, high in ((640, 1.6, 0.35, 0.65), *((n, "mean", 0.85, 2.0) for n in POINTS)):
        if not low < (error := mean(results, (n, h))) < high:
            return f"entry {(n, h)!r} is {error:.3g} on average, which cannot be."
    return None


def read_off(key, right, advice):
    return reads_off(key, right, advice, slack=0.02)


def best(n):
    return lambda results: min(BANDWIDTHS, key=lambda h: mean(results, (n, h)))


def gain(h):
    return lambda results: mean(results, (10, h)) / mean(results, (640, h))


def enough(results):
    return min((n for n in POINTS if mean(results, (n, 0.2)) < mean(results, (640, 1.6))), default=0)


MEANS = "take the mean of the five errors of each bandwidth, and then the bandwidth with the smallest mean."
GAIN = "take the mean of the five errors first; a gain is the mean error at 10 points divided by that at 640."
WIDE = "take the smallest such n: the first whose mean error at 0.2 is below one number, that of 1.6 at 640 points."

EXERCISE = Experiment(
    claims=(
        Claim("keys turned", turned, "name the number of points first, then the bandwidth or 'mean'."),
        Claim(
            "all runs",
            table_of(KEYS, 5, 1e-4, 9.0),
            "run every number of points with every bandwidth, five seeds each.",
        ),
        Claim(
            "possible", possible, "does every run get its own n, seed and bandwidth, and (n, 'mean') the mean_error?"
        ),
        read_off("best at 10", best(10), MEANS),
        read_off("best at 640", best(640), MEANS),
        read_off("gain at 0.1", gain(0.1), GAIN),
        read_off("gain at 1.6", gain(1.6), GAIN),
        read_off("enough points at 0.2", enough, WIDE),
    )
)
