"""5.9 · Open experiment: how far stacked windows reach."""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, means_within, number, reads_off, table_of

SHARES = {(17, 1): 0.18, (9, 2): 0.18, (5, 4): 0.07, (3, 8): 0.025, (2, 16): 0.003}  # stack -> a usual share
FARTHEST = 16


def _means(results):
    return {key: mean(results, key) for key in SHARES}


def _sizes(results):
    """Whether what was added up are sizes: signed entries cancel behind the first LayerNorm, squares favor the nearest."""
    means = _means(results)
    if all(abs(share) < 1e-4 for share in means.values()) or min(means.values()) < 0:
        return "your shares are about 0 or below it: entries of both signs were added up, and they cancelled."
    if all(share < SHARES[key] / 6 for key, share in means.items()):
        return "your shares are about those of the squared sizes: the root is missing."
    return None


_possible = means_within(
    {key: (share / 2, 2 * share) for key, share in SHARES.items()},
    lambda key, share: f"the mean share of {key} is {share:.3g}; with these 33 tokens it is near {SHARES[key]}.",
)


def _farthest(results):
    read_off = number(results["farthest"])
    wrong = f"entry 'farthest' is {read_off:g}, and n (w - 1) is another number in all five stacks."
    return None if read_off == FARTHEST else wrong


def _least(results):
    means = _means(results)
    least = min(means, key=means.get)
    key = tuple(results["least"]) if isinstance(results["least"], list) else results["least"]
    if key not in SHARES:
        return f"no stack is called {key!r}: a stack is (window, layers), the window first."
    return None if key == least else f"you say {key!r}, which does not have the smallest mean share in your table."


def _ratio(results):
    means = _means(results).values()
    return max(means) / min(means)


EXERCISE = Experiment(
    claims=(
        Claim(
            "all runs",
            table_of(SHARES, count=5, low=-1.01, high=1.01),
            "each stack has five shares between 0 and 1, one for each of the seeds 0 to 4.",
        ),
        Claim("sizes", _sizes, "the size is a norm: gradient.norm(dim=-1), before anything is averaged or added up."),
        Claim(
            "possible",
            _possible,
            "index 32 is 0 back, so 27 is 5 back: add up the sizes at 5 or more back, and divide by the sum of all 33.",
        ),
        Claim("farthest", _farthest, "look for the farthest position whose gradient is not exactly 0."),
        Claim("least", _least, "compare the means of the five shares, and name the window first."),
        reads_off("ratio", _ratio, "divide the largest mean by the smallest.", slack=0.05),
    )
)
