"""1.9 · Open experiment: what makes a word recognizable?"""

from ..deciding.experiment import Claim, Experiment
from ..deciding.results import mean, number, numbers, one_of, table_of

START, MEASURE, TABLE, BOTH = ((t, m) for t in ("counts", "ppmi") for m in ("dot product", "cosine"))
POSSIBLE = {START: (0.0, 0.1), MEASURE: (0.4, 0.9), TABLE: (0.6, 0.98), BOTH: (0.6, 0.98)}
LARGER, WINS, RELIABLY = "larger gain", "seeds where cosine wins", "cosine reliably better"


def possible(shares):
    for key, (low, high) in POSSIBLE.items():
        if outside := [share for share in numbers(shares[key]) if not low <= share <= high]:
            return f"entry {key!r} holds {outside[0]:.3f}; such a run gives {low} to {high}."
    return None


def turned(shares):
    if any(key[::-1] in shares and key not in shares for key in POSSIBLE):
        return "your keys are (measure, table); asked for is (table, measure), such as ('counts', 'cosine')."
    return None


def exchanged(place, names):
    """A claim: the shares do not become possible only when the names at one place of the keys are exchanged."""
    other = dict(zip(names, reversed(names), strict=True))

    def problem(shares):
        swapped = {}
        for key in POSSIBLE:
            theirs = list(key)
            theirs[place] = other[key[place]]
            swapped[key] = shares[tuple(theirs)]
        if possible(shares) is None or possible(swapped) is not None:
            return None
        return (
            f"with {names[0]!r} and {names[1]!r} exchanged your shares would be possible, as they stand they are not."
        )

    return problem


def larger_gain(shares):
    reached = {"table": mean(shares, TABLE), "measure": mean(shares, MEASURE)}
    if problem := one_of(shares, LARGER, reached):
        return problem
    if reached[shares[LARGER]] == max(reached.values()):
        return None
    return f"{LARGER!r} does not follow from your numbers: on average the other change reaches more."


def by_split(shares):
    wins = sum(cosine > dot for cosine, dot in zip(numbers(shares[BOTH]), numbers(shares[TABLE]), strict=True))
    if number(shares[WINS]) != wins:
        return f"{WINS!r} does not follow from your numbers with PPMI, compared split by split."
    if problem := one_of(shares, RELIABLY, (True, False)):
        return problem
    return None if shares[RELIABLY] == (wins == 5) else f"{RELIABLY!r} says otherwise than {wins} of 5 splits do."


EXERCISE = Experiment(
    claims=(
        Claim("keys turned", turned, "name the table first, then the measure."),
        Claim(
            "all runs", table_of(POSSIBLE, 5, 0.0, 1.0), "give each of the four keys five shares, one for each split."
        ),
        Claim(
            "tables exchanged",
            exchanged(0, ("counts", "ppmi")),
            "what two_halves gives is 'counts'; what positive_pmi makes of it is 'ppmi'.",
        ),
        Claim(
            "measures exchanged",
            exchanged(1, ("dot product", "cosine")),
            "the rows as they are give 'dot product', the rows divided by their lengths 'cosine'.",
        ),
        Claim(
            "possible", possible, "compare each row of the first half with all rows of the second, and nothing else."
        ),
        Claim("larger gain", larger_gain, "compare the means of ('ppmi', 'dot product') and ('counts', 'cosine')."),
        Claim("split by split", by_split, "compare ('ppmi', 'cosine') with ('ppmi', 'dot product') split by split."),
    )
)
