"""The experiment: heads of keys and values against accuracy after 180 updates."""

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, number, numbers, said_of, table_of


def _example():
    return {
        4: [0.82, 0.68, 0.81, 0.66, 0.81], 2: [0.62, 0.63, 0.64, 0.62, 0.69], 1: [0.53, 0.48, 0.47, 0.51, 0.55],
        "guessing": 1 / 6, "apart": True, "closer to": 4,
    }  # fmt: skip


# Means of five seeds after 180 updates, with room on both sides of what five sets of seeds gave: after 90 updates they are
# 0.45, 0.42 and 0.39 at most.
_RANGES = {4: (0.6, 0.95), 2: (0.52, 0.85), 1: (0.42, 0.7)}


def _each_its_own(results):
    for heads in (4, 2, 1):
        if len(set(row := numbers(results[heads]))) == 1:
            return f"entry {heads} holds {row[0]:.4g} five times: was the seed changed from run to run?"
    same = next(
        ((one, two) for one, two in ((4, 2), (4, 1), (2, 1)) if numbers(results[one]) == numbers(results[two])), None
    )
    return f"entries {same[0]} and {same[1]} hold the same five numbers, which no two runs give." if same else None


def _possible(results):
    for heads, (low, high) in _RANGES.items():
        if not low <= (found := mean(results, heads)) <= high:
            said = f"with {heads} head{'s' * (heads > 1)} of keys and values your mean is {found:.2f}"
            return f"{said}, which such models do not come to after 180 updates."
    return None


def _in_order(results):
    means = [mean(results, heads) for heads in (4, 2, 1)]
    if means[0] > means[2] and means[1] > means[2] - 0.02 and means[0] > means[1] - 0.02:
        return None
    said = ", ".join(f"{heads}: {one:.2f}" for heads, one in zip((4, 2, 1), means, strict=True))
    return f"your means ({said}) do not fall with fewer heads: were the rows exchanged?"


def _guessing(results):
    given = number(results["guessing"])
    return (
        None if abs(given - 1 / 6) < 0.005 else f"results['guessing'] is {given:.3g}; who guesses one of six contents?"
    )


def _apart(results):
    worst, best = min(numbers(results[4])), max(numbers(results[1]))
    if isinstance(said := results["apart"], str):
        return f"entry 'apart' is the text {said!r}; it must be True or False, without quotes."
    if results["apart"] in (True, False) and bool(results["apart"]) == (worst > best):
        return None
    return f"the worst with four heads is {worst:.2f}, the best with one {best:.2f}; you say {results['apart']!r}."


def _closer(results):
    if wrong := said_of(results, "closer to", (4, 1)):
        return (
            f"{wrong.removesuffix('.')}, a number without quotes." if isinstance(results["closer to"], str) else wrong
        )
    means = {heads: mean(results, heads) for heads in (4, 2, 1)}
    nearer = min((4, 1), key=lambda heads: abs(means[heads] - means[2]))
    if results["closer to"] == nearer:
        return None
    away = " and ".join(f"{abs(means[heads] - means[2]):.2f} from {heads}" for heads in (4, 1))
    return f"your mean for two heads is {away}; you say closer to {results['closer to']!r}."


EXPERIMENT = Experiment(
    answer="sharing_results",
    example=_example,
    claims=(
        Claim("all runs", table_of((4, 2, 1), 5, 0.3, 0.99), "five seeds for each of 4, 2 and 1, 180 updates each."),
        Claim(
            "each its own", _each_its_own, "set torch.manual_seed(seed) and hand the same seed to train, seeds 0 to 4."
        ),
        Claim("more heads, more right", _in_order, "print the three means; the keys are the numbers of heads."),
        Claim("possible", _possible, "train for 180 updates, and keep the last accuracy that train yields."),
        Claim("guessing", _guessing, "there are six contents, each as likely as the others."),
        Claim("apart", _apart, "compare min(...) of the one list with max(...) of the other."),
        Claim("closer to", _closer, "compare the two distances between means."),
    ),
)
