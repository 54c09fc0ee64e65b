"""12.9 · Experiment: how much of the past does it use?"""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, means_within, number, numbers, reads_off, table_of

WAYS = ("all", "layers 128", "layers 16", "model 16")
_possible = (
    means_within(  # the course's model has 1.70, 1.71, 1.92 and 1.93; in nats 1.70 is 1.18, as a perplexity 3.25
        {"all": (1.6, 1.8), "layers 128": (1.6, 1.82), "layers 16": (1.82, 2.05), "model 16": (1.82, 2.05)},
        lambda way, bits: (
            f"the mean of {way!r} is {bits:.3g} bits; the course's model takes {_usual(way)} on these stretches."
        ),
    )
)


def _usual(way):
    return "about 1.7" if way in ("all", "layers 128") else "about 1.9"


def _exchanged(results):
    """Two ways that each other's ranges hold: the course's model has 1.870 and 1.989 where the cut one has 1.856 and 2.007."""
    layered, cut = numbers(results["layers 16"]), numbers(results["model 16"])
    if layered[0] < cut[0] - 0.005 and layered[2] > cut[2] + 0.005:
        return "entries 'layers 16' and 'model 16' look exchanged: the model that sees 16 is better in stretch 0, but not in 2."
    if mean(results, "layers 128") < mean(results, "all") - 0.003:
        return "by your numbers 'layers 128' needs fewer bits than 'all', which sees more. Are the two exchanged?"
    return None


def _reach(results):
    reach = number(results["reach"])
    if reach == 61:
        return None
    told = f"you say that {reach:g} characters can have an influence on a logit."
    if reach == 16:
        return f"{told} That is what the last layer sees; what it looks at has seen more."
    if reach == 64:
        return f"{told} That is four times 16, but the windows of two layers share a position."
    if reach == 60:
        return f"{told} That many lie further back; is the position itself counted?"
    return told


def _lost(results):
    return mean(results, "layers 128") - mean(results, "all")


def _share(results):
    cut, layered, everything = (mean(results, way) for way in ("model 16", "layers 16", "all"))
    right, answer = (cut - layered) / (cut - everything), number(results["handed on"])
    if abs(answer - right) <= 0.006:
        return None
    told = f"entry 'handed on' is {answer:.3g}"
    if abs(answer - (1 - right)) <= 0.006:
        return f"{told}: the share that is still lost, 1 minus what is brought back."
    if abs(answer - layered / cut) <= 0.002:
        return f"{told}: the bits of 'layers 16' divided by those of 'model 16'. The share is of what is lost, not of all bits."
    if abs(answer - (cut - layered)) <= 0.0005:
        return f"{told}: that is how many bits are brought back, not yet a share of those that are lost."
    if abs(answer - 100 * right) <= 0.6:
        return f"{told}: that is in percent; as a share it is a hundredth of it."
    return f"{told}; by your own numbers it is another."


def _clear(results):
    pairs = zip(numbers(results["layers 16"]), numbers(results["model 16"]), strict=True)
    lower = sum(layered < cut for layered, cut in pairs)
    if results["clear"] in (True, False) and bool(results["clear"]) == (lower == 5):
        return None
    return f"stretch by stretch, 'layers 16' is below 'model 16' in {lower} of 5; you say {results['clear']!r}."


EXERCISE = Experiment(
    claims=(
        Claim("all runs", table_of(WAYS, 5, 0.2, 12.0), "five for each way; stretch n begins at character 8000 * n."),
        Claim(
            "possible",
            _possible,
            "text_bits gives bits. 'model 16' is length 16 and stride 1; the others have length 512 and stride 512. Stretch n "
            "begins at character 8000 * n.",
        ),
        Claim(
            "exchanged",
            _exchanged,
            "'all' is the model itself, the 'layers' are Windowed, all three with length 512; 'model 16' has length 16.",
        ),
        reads_off("lost at 128", _lost, "the mean of 'layers 128' minus the mean of 'all', in bits.", slack=0.1),
        Claim("reach", _reach, "draw two layers with a window of 3, and follow the lines down."),
        Claim(
            "handed on",
            _share,
            "the means: ('model 16' minus 'layers 16') divided by ('model 16' minus 'all').",
        ),
        Claim("clear", _clear, "compare stretch by stretch, not the means."),
    )
)
