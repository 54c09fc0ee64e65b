"""Open experiment: what label smoothing changes, how often a model is right or how sure it is."""

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, number, numbers, said_of, table_of

TRIED = (0, 0.05, 0.1, 0.2, 0.4)
RIGHT, SURE = "how often it is right", "how sure it is"


def _possible(results):
    means = [mean(results, ("sure", smoothing)) for smoothing in TRIED]
    if any(later > before + 0.03 for before, later in zip(means, means[1:], strict=False)):
        said = ", ".join(f"{one:.3f}" for one in means)
        return f"your means of 'sure' are {said}: that more smoothing makes a generator surer cannot come out."
    far = max(TRIED, key=lambda s: abs(mean(results, ("right", s)) - mean(results, ("right", 0))))
    if abs(found := mean(results, ("right", far)) - mean(results, ("right", 0))) > 0.15:
        return f"with smoothing {far} your share of right symbols changes by {found:.3f}, which cannot come out here."
    return None


def _closest(results):
    off = {s: abs(mean(results, ("sure", s)) - mean(results, ("right", s))) for s in TRIED}
    said = number(results["closest"])
    mine = next((off[s] for s in TRIED if abs(s - said) < 1e-9), None)
    if mine is None:
        return f"entry 'closest' is {said:g}; it must be one of {', '.join(map(str, TRIED))}."
    best = min(off, key=off.get)
    if mine > off[best] + 1e-6:
        return f"with smoothing {said:g} the two means differ by {mine:.3f}; another brings them closer, to {off[best]:.3f}."
    return None


def _fall(results):
    want = mean(results, ("sure", 0)) - mean(results, ("sure", 0.4))
    if abs(found := number(results["fall"]) - want) > 0.002:
        return f"your 'fall' is off by {found:.3f}: the means of your own numbers fall by {want:.3f}."
    return None


def _gain(results):
    pairs = zip(numbers(results["right", 0.4]), numbers(results["right", 0]), strict=True)
    want = sum(smoothed - plain for smoothed, plain in pairs) / 5
    if abs(number(results["gain"]) - want) > 0.002:
        return f"your 'gain' is {number(results['gain']):.3f}; the mean of your five paired differences is {want:.3f}."
    return None


def _more(results):
    if wrong := said_of(results, "what changes more", (RIGHT, SURE)):
        return wrong
    fall, gain = number(results["fall"]), number(results["gain"])
    if results["what changes more"] != (SURE if abs(fall) > abs(gain) else RIGHT):
        return (
            f"you say that {results['what changes more']} changes more; your fall is {fall:.3f}, your gain {gain:.3f}."
        )
    return None


def _example():
    runs = {("right", s): [0.86 + 0.005 * k for k in range(5)] for s in TRIED}
    runs |= {("sure", s): [0.93 - s + 0.004 * k for k in range(5)] for s in TRIED}
    return runs | {"closest": 0.05, "fall": 0.4, "gain": 0.0, "what changes more": SURE}


_KEYS = [(what, s) for what in ("right", "sure") for s in TRIED]
EXPERIMENT = Experiment(
    answer="smoothing_results", example=_example, claims=(
        Claim("all runs", table_of(_KEYS, 5, 0.05, 1.0), "store both lists of five_generators under their two keys."),
        Claim("possible", _possible, "call five_generators as it is given, and store 'right' first, 'sure' second."),
        Claim("closest", _closest, "for each smoothing, compare the mean of 'sure' with the mean of 'right'."),
        Claim("fall", _fall, "take the mean of sure at 0 less the mean of sure at 0.4."),
        Claim("gain", _gain, "subtract run by run, right at 0.4 less right at 0, then take the mean."),
        Claim("what changes more", _more, "compare the sizes of the two, without their signs."),
    ),
)  # fmt: skip
