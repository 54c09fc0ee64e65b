"""Open experiment: which table and which measure find a word again in the other half of the text."""

from ...experiment import Claim, Experiment
from ...kit.experiments import mean, number, numbers, said_of, table_of

START, MEASURE, TABLE, BOTH = ((t, m) for t in ("counts", "ppmi") for m in ("dot product", "cosine"))
KEY = "cosine reliably better"
POSSIBLE = {START: (0.0, 0.1), MEASURE: (0.4, 0.9), TABLE: (0.6, 0.98), BOTH: (0.6, 0.98)}


def _example():
    shares = [0.004] * 5, [0.70, 0.69, 0.71, 0.70, 0.68], [0.88, 0.87, 0.85, 0.86, 0.88], [0.90, 0.86, 0.88, 0.88, 0.89]
    read = {"larger gain": "table", "seeds where cosine wins": 4, KEY: False}
    return dict(zip(POSSIBLE, shares, strict=True)) | read


def _possible(results):
    for key, (low, high) in POSSIBLE.items():
        if outside := [share for share in numbers(results[key]) if not low <= share <= high]:
            return f"entry {key!r} holds {outside[0]:.3f}; such a run gives {low} to {high}."
    return None


def _larger(results):
    by = {"table": mean(results, TABLE), "measure": mean(results, MEASURE)}
    said = f"on average the other table reaches {by['table']:.3f}, the other measure {by['measure']:.3f}."
    return said_of(results, "larger gain", by) or (said if by[results["larger gain"]] < max(by.values()) else None)


def _wins(results):
    wins = sum(c > d for c, d in zip(numbers(results[BOTH]), numbers(results[TABLE]), strict=True))
    if number(results["seeds where cosine wins"]) != wins:
        return f"with PPMI, the cosine finds more words than the dot product in {wins} of your five splits."
    said = f"'cosine reliably better' says otherwise than {wins} of 5 splits do."
    return said_of(results, KEY, (True, False)) or (said if results[KEY] != (wins == 5) else None)


EXPERIMENT = Experiment(answer="found_shares", example=_example, claims=(
    Claim("all runs", table_of(POSSIBLE, 5, 0.0, 1.0), "give each of the four keys five shares, one for each split."),
    Claim("possible", _possible, "compare each row of the first half with all rows of the second, and nothing else."),
    Claim("larger gain", _larger, "compare the means of ('ppmi', 'dot product') and ('counts', 'cosine')."),
    Claim("split by split", _wins, "compare ('ppmi', 'cosine') with ('ppmi', 'dot product') split by split."),
))  # fmt: skip
