"""The experiment: the stride of overlapping windows against bits per character."""

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, number, numbers, table_of


def _example():
    return {
        128: [2.10, 1.72, 1.95, 2.31, 1.60], 64: [1.98, 1.61, 1.84, 2.20, 1.52], 16: [1.93, 1.55, 1.80, 2.15, 1.47],
        "saved": 0.16, "first half": 0.69, "every": True, "cost": 8,
    }  # fmt: skip


def _in_order(results):
    means = [mean(results, stride) for stride in (128, 64, 16)]
    if means[0] > means[1] > means[2] - 0.01:
        return None
    said = ", ".join(f"{stride}: {one:.3f}" for stride, one in zip((128, 64, 16), means, strict=True))
    return f"your means ({said}) do not fall as the windows overlap more: were the rows exchanged?"


def _differ_between(results):
    rows = [numbers(results[stride]) for stride in (128, 64, 16)]
    spread = max(max(row) - min(row) for row in rows)
    return (
        None if spread > 0.005 else "your five stretches have the same bits: was the stretch changed from run to run?"
    )


def _saved(results):
    expected, given = mean(results, 128) - mean(results, 16), number(results["saved"])
    if abs(given - expected) < 0.006:
        return None
    return f"the mean falls by {expected:.3f} bits from stride 128 to stride 16; you say {given:.3g}."


def _first_half(results):
    whole = mean(results, 128) - mean(results, 16)
    expected, given = (mean(results, 128) - mean(results, 64)) / whole, number(results["first half"])
    if abs(given - expected) < 0.03:
        return None
    return f"by your means, stride 64 brings {expected:.2f} of what stride 16 brings; you say {given:.3g}."


def _every(results):
    wins = sum(a > b for a, b in zip(numbers(results[128]), numbers(results[16]), strict=True))
    if results["every"] in (True, False) and bool(results["every"]) == (wins == 5):
        return None
    return f"stretch by stretch, stride 16 is below stride 128 in {wins} of 5; you say {results['every']!r}."


def _cost(results):
    given = number(results["cost"])
    if abs(given - 8) < 1.01:
        return None
    return f"you say that stride 16 feeds the model {given:.3g} times as many characters as stride 128."


EXPERIMENT = Experiment(
    answer="window_results",
    example=_example,
    claims=(
        Claim(
            "all runs", table_of((128, 64, 16), 5, 0.2, 7.0), "five stretches for each of the strides 128, 64 and 16."
        ),
        Claim("stretches differ", _differ_between, "stretch n begins at character 8000 * n of the test text."),
        Claim("more overlap, fewer bits", _in_order, "print the three means; the keys are the strides."),
        Claim("saved", _saved, "the difference of two means, of the strides 128 and 16."),
        Claim("first half", _first_half, "what 64 saves over 128, divided by what 16 saves over 128."),
        Claim("every", _every, "compare the two numbers of each stretch with each other, not the means."),
        Claim("cost", _cost, "every window feeds up to 128 characters; how many windows begin in 1,280 characters?"),
    ),
)
