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
    if abs(answer - (1 - right)) <= 0.02:
        return f"entry 'handed on' is {answer:.3g}: the share that is still lost, 1 minus what is brought back."
    return f"entry 'handed on' is {answer:.3g}; by your own numbers it is another."


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
            "text_bits gives bits. 'model 16' is length 16 and stride 1; the others have length 512 and stride 512.",
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
