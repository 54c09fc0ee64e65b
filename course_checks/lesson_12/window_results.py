"""12.9 · Experiment: what does the beginning of a window cost?"""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, means_within, number, numbers, reads_off, table_of

STRIDES = (128, 64, 16)
SIDE_BY_SIDE = 1.748  # the mean for stride 128
_possible = means_within(  # bits a character: the course's model has 1.75; in nats that is 1.21, as a perplexity 3.4
    {128: (1.4, 2.3)},
    lambda key, bits: (
        f"the mean for stride 128 is {bits:.3g}; the course's model takes 1.7 to 1.8 bits a character on this text."
    ),
)


def _in_order(results):
    means = [mean(results, stride) for stride in STRIDES]
    if means[0] > means[1] > means[2] - 0.01:
        return None
    listed = ", ".join(f"{stride}: {bits:.3f}" for stride, bits in zip(STRIDES, means, strict=True))
    if abs(means[0] - SIDE_BY_SIDE) < 0.002 and min(means[1:]) > means[0]:
        return f"your means are {listed}: 128 is right, 64 and 16 are too high: are characters counted twice?"
    return f"your means ({listed}) do not fall as the windows overlap more."


def _every(results):
    wins = sum(a > b for a, b in zip(numbers(results[128]), numbers(results[16]), strict=True))
    if results["every"] in (True, False) and bool(results["every"]) == (wins == 5):
        return None
    told = f"stretch by stretch, stride 16 is below stride 128 in {wins} of 5; you say {results['every']!r}."
    beats_64 = [b < a for a, b in zip(numbers(results[64]), numbers(results[16]), strict=True)]
    if results["every"] in (True, False) and bool(results["every"]) == all(beats_64):
        return f"{told} (It is below stride 64 in {sum(beats_64)} of 5: was that asked?)"
    return told


def _cost(results):
    cost = number(results["cost"])
    sentence = f"you say that stride 16 feeds the model {cost:.3g} times as many characters as stride 128."
    return None if abs(cost - 8) < 1.01 else sentence


def _share(results):
    right, answer = _saved(results, 64) / _saved(results), number(results["first half"])
    if abs(answer - right) <= 0.04 * abs(right):
        return None
    if abs(answer - (1 - right)) <= 0.01:
        return f"entry 'first half' is {answer:.3g}: the share that stride 64 leaves over, 1 minus what it saves."
    return f"entry 'first half' is {answer:.3g}; by your own numbers it is another."


def _saved(results, by=16):
    return mean(results, 128) - mean(results, by)


EXERCISE = Experiment(
    claims=(
        Claim(
            "all runs", table_of(STRIDES, 5, 0.2, 7.0), "five for each stride; stretch n begins at character 8000 * n."
        ),
        Claim("possible", _possible, "text_bits gives bits: no nats, no perplexity, and no sum over the characters."),
        Claim(
            "more overlap, fewer bits",
            _in_order,
            "does each row stand under its own stride, and is each character scored once, in the first window that has it?",
        ),
        reads_off("saved", _saved, "the mean for stride 128 minus the mean for stride 16, in bits.", slack=0.06),
        Claim(
            "first half",
            _share,
            "what the mean for stride 64 saves over 128, divided by what the mean for 16 saves over 128.",
        ),
        Claim(
            "every",
            _every,
            "for each stretch compare its number for stride 16 with that for stride 128, not the means.",
        ),
        Claim("cost", _cost, "every window feeds up to 128 characters; how many windows begin in 1,280 characters?"),
    )
)
