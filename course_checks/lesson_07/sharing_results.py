"""7.9 · Experiment: how many heads, how many updates?"""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import each_its_own, mean, means_within, number, numbers, one_of, table_of

# Means of five seeds after 180 updates, with room on both sides of what five sets of seeds gave: after 90 updates they are
# 0.45, 0.42 and 0.39 at most.
RANGES = {4: (0.6, 0.95), 2: (0.52, 0.85), 1: (0.42, 0.7)}


def in_order(results):
    means = [mean(results, heads) for heads in (4, 2, 1)]
    if means[0] > means[2] and means[1] > means[2] - 0.02 and means[0] > means[1] - 0.02:
        return None
    listed = ", ".join(f"{heads}: {value:.2f}" for heads, value in zip((4, 2, 1), means, strict=True))
    return f"your means ({listed}) do not fall with fewer heads: were the rows exchanged?"


def impossible(heads, share):
    sentence = f"with {heads} head{'s' * (heads > 1)} of keys and values your mean is {share:.2f}"
    return f"{sentence}, which such models do not come to after 180 updates."


def guessing(results):
    value = number(results["guessing"])
    fits = abs(value - 1 / 6) < 0.005
    return None if fits else f"results['guessing'] is {value:.3g}; who guesses one of six contents?"


def apart(results):
    worst, best, answer = min(numbers(results[4])), max(numbers(results[1])), results["apart"]
    if isinstance(answer, str):
        return f"entry 'apart' is the text {answer!r}; it must be True or False, without quotes."
    if answer in (True, False) and bool(answer) == (worst > best):
        return None
    return f"the worst with four heads is {worst:.2f}, the best with one {best:.2f}; you say {answer!r}."


def closer(results):
    wrong = one_of(results, "closer to", (4, 1))
    if wrong:
        return wrong.removesuffix(".") + (
            ", a number without quotes." if isinstance(results["closer to"], str) else "."
        )
    away = {heads: abs(mean(results, heads) - mean(results, 2)) for heads in (4, 1)}
    if results["closer to"] == min(away, key=away.get):
        return None
    listed = " and ".join(f"{distance:.2f} from {heads}" for heads, distance in away.items())
    return f"your mean for two heads is {listed}; you say closer to {results['closer to']!r}."


EXERCISE = Experiment(
    claims=(
        Claim("all runs", table_of((4, 2, 1), 5, 0.3, 0.99), "five seeds for each of 4, 2 and 1, 180 updates each."),
        Claim(
            "each its own", each_its_own(RANGES), "torch.manual_seed(seed), and the same seed for train: seeds 0 to 4."
        ),
        Claim("more heads, more right", in_order, "print the three means; the keys are the numbers of heads."),
        Claim(
            "possible",
            means_within(RANGES, impossible),
            "train for 180 updates, and keep the last accuracy that train yields.",
        ),
        Claim("guessing", guessing, "there are six contents, each as likely as the others."),
        Claim("apart", apart, "compare min(...) of the one list with max(...) of the other."),
        Claim("closer to", closer, "compare the two distances between means."),
    ),
)
