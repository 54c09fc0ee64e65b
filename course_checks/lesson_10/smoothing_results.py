"""10.9 · Open experiment: what does label smoothing change?"""

import itertools

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, number, numbers, one_of, table_of

TRIED = (0, 0.05, 0.1, 0.2, 0.4)
RIGHT, SURE = "how often it is right", "how sure it is"
KEYS = [(what, smoothing) for what in ("right", "sure") for smoothing in TRIED]


def each_tried(results):
    for first, second in itertools.combinations(TRIED, 2):
        if numbers(results["sure", first]) == numbers(results["sure", second]):
            return f"'sure' holds the same numbers for {first} and {second}: was five_generators called with each smoothing?"
    return None


def possible(results):
    means = [mean(results, ("sure", smoothing)) for smoothing in TRIED]
    if any(later > before + 0.03 for before, later in itertools.pairwise(means)):
        listed = ", ".join(f"{each:.3f}" for each in means)
        return f"your means of 'sure' are {listed}: that more smoothing makes a generator surer cannot come out."
    plain = mean(results, ("right", 0))
    far = max(TRIED, key=lambda smoothing: abs(mean(results, ("right", smoothing)) - plain))
    if abs(change := mean(results, ("right", far)) - plain) > 0.15:
        return f"with smoothing {far} your share of right symbols changes by {change:.3f}, which cannot come out here."
    return None


def closest(results):
    gaps = {s: abs(mean(results, ("sure", s)) - mean(results, ("right", s))) for s in TRIED}
    answer = number(results["closest"])
    gap = next((gaps[s] for s in TRIED if abs(s - answer) < 1e-9), None)
    if gap is None:
        return f"entry 'closest' is {answer:g}; it must be one of {', '.join(map(str, TRIED))}."
    if gap > min(gaps.values()) + 1e-6:
        return f"with smoothing {answer:g} the two means differ by {gap:.3f}; another brings them closer."
    return None


def turned_round(answer, right):
    return abs(right) > 0.001 and abs(number(answer) + right) < 0.0005


def fall(results):
    right = mean(results, ("sure", 0)) - mean(results, ("sure", 0.4))
    off = number(results["fall"]) - right
    if turned_round(results["fall"], right):
        return f"your 'fall' is {number(results['fall']):.3f}, with the sign turned round."
    return f"your 'fall' is off by {off:.3f} from what your own means give." if abs(off) > 0.002 else None


def gain(results):
    pairs = zip(numbers(results["right", 0.4]), numbers(results["right", 0]), strict=True)
    right = sum(smoothed - plain for smoothed, plain in pairs) / 5
    off = number(results["gain"]) - right
    if turned_round(results["gain"], right):
        return f"your 'gain' is {number(results['gain']):.4f}, with the sign turned round."
    return (
        f"your 'gain' is off by {off:.3f} from the mean of your five paired differences." if abs(off) > 0.002 else None
    )


def more(results):
    if problem := one_of(results, "what changes more", (RIGHT, SURE)):
        return problem
    falls, gains, answer = number(results["fall"]), number(results["gain"]), results["what changes more"]
    if answer == (SURE if abs(falls) > abs(gains) else RIGHT):
        return None
    return f"you say that {answer} changes more; your fall is {falls:.3f}, your gain {gains:.3f}."


EXERCISE = Experiment(
    claims=(
        Claim("all runs", table_of(KEYS, 5, 0.05, 1.0), "store both lists of five_generators under their two keys."),
        Claim("each smoothing", each_tried, "call five_generators anew for each of the five smoothings."),
        Claim("possible", possible, "call five_generators as it is given, and store 'right' first, 'sure' second."),
        Claim("closest", closest, "for each smoothing, compare the mean of 'sure' with the mean of 'right'."),
        Claim("fall", fall, "take the mean of sure at 0 less the mean of sure at 0.4."),
        Claim("gain", gain, "subtract run by run, right at 0.4 less right at 0, then take the mean."),
        Claim("what changes more", more, "compare the sizes of the two, without their signs."),
    )
)
