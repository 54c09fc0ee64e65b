"""Open experiment: how many letters a step of the speller needs."""

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, number, numbers, reads_off, table_of

KEPT = ("all", 1, 2, 4, "best hidden")
# The words and the speller are always the same, so the means are known.
USUAL = {"all": 0.081, 1: 0.114, 2: 0.082, 4: 0.081, "best hidden": 1.19}


def _speller(results):
    found = mean(results, "all")
    if abs(found - 0.08) > 0.03:
        return f"with all weights kept the mean error rate is {found:.3f}; the speller itself is near 0.08."
    return "four letters give the same five numbers as one." if numbers(results[4]) == numbers(results[1]) else None


def _order(results):
    one, four, hidden = mean(results, 1), mean(results, 4), mean(results, "best hidden")
    if four > one:
        return f"with four letters ({four:.3f}) the speller makes more errors than with one ({one:.3f})."
    said = f"with the best letter hidden the mean error rate is only {hidden:.3f}; with one it is {one:.3f}."
    return said if hidden < 2 * one else None


def _usual(results):
    """Near what this speller gives: a function ``keep`` that lets other letters through gives other rates."""
    for key in KEPT:
        found, usual = mean(results, key), USUAL[key]
        if abs(found - usual) <= 0.08 * usual:
            continue
        said = (
            f"the mean error rate of {key!r} is {found:.3f}; with this speller and these words it is near {usual:.3g}."
        )
        if key == 1 and abs(found - USUAL[2]) < 0.004:
            said += " Two letters give about your number: does keep let one more through than it should?"
        if key == "best hidden" and abs(found - 1.35) < 0.06:
            said += " The second-best letter alone gives about your number: all letters but the best should stay."
        return said
    return None


def _enough(results):
    return min((k for k in (1, 2, 4) if mean(results, k) <= mean(results, "all") + 0.005), default=0)


def _enough_is_right(results):
    right, said = _enough(results), results["enough"]
    if not right:
        return "by your numbers no row qualifies for 'enough': 1, 2 and 4 are all more than 0.005 above 'all'."
    return None if number(said) == right else f"by your numbers 'enough' is {right}; you say {number(said):g}."


def _worse_with_one(results):
    return sum(one > every for one, every in zip(numbers(results[1]), numbers(results["all"]), strict=True))


def _hidden(results):
    return mean(results, "best hidden") / mean(results, 1)


def _example():
    rows = {"all": (0.094, 0.072, 0.081, 0.068, 0.092), 1: (0.121, 0.116, 0.106, 0.112, 0.117)}
    rows |= {2: (0.096, 0.079, 0.083, 0.064, 0.087), 4: (0.093, 0.073, 0.081, 0.068, 0.091)}
    rows |= {"best hidden": (1.303, 1.212, 1.166, 1.062, 1.218)}
    return {key: list(row) for key, row in rows.items()} | {
        "enough": 2,
        "worse with one": 5,
        "hiding against one": 10.4,
    }


EXPERIMENT = Experiment(
    answer="narrow_results",
    example=_example,
    claims=(
        Claim("all runs", table_of(KEPT, 5, 0.0, 10.0), "give each key the list that five_runs returns."),
        Claim(
            "the speller", _speller, "for 'all' keep returns its argument as it is; for 4 it keeps the four largest."
        ),
        Claim("order", _order, "print what keep makes of one row of weights, also in a batch: which are 0?"),
        Claim("usual", _usual, "print what keep makes of one row of weights: how many are not 0, and which?"),
        Claim("enough", _enough_is_right, "compare each row's mean with that of 'all', plus 0.005."),
        reads_off("worse with one", _worse_with_one, "go through the two rows together, sample by sample."),
        reads_off("hiding against one", _hidden, "divide the mean of 'best hidden' by the mean of 1.", slack=0.05),
    ),
)
