# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce

# %% wrong: compares the list of a hypothesis with the tuples of the references, which are never equal, so every word counts as wrong
def error_rates(hypotheses, references):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            new = [i]
            for j, y in enumerate(b, 1):
                new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
            row = new
        return row[-1]

    wrong = edits = total = 0
    for hyp, accepted in zip(hypotheses, references):
        if hyp not in accepted:
            wrong += 1
        best = min(accepted, key=lambda ref: distance(hyp, ref))
        edits += distance(hyp, best)
        total += len(best)
    return wrong / len(hypotheses), edits / total

# %% wrong: of several accepted pronunciations with the fewest edits it takes the last one instead of the first, so the length added can differ
def error_rates(hypotheses, references):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            new = [i]
            for j, y in enumerate(b, 1):
                new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
            row = new
        return row[-1]

    wrong = edits = total = 0
    for hyp, accepted in zip(hypotheses, references):
        best, fewest = None, None
        for ref in accepted:
            d = distance(hyp, ref)
            if fewest is None or d <= fewest:
                best, fewest = ref, d
        wrong += fewest > 0
        edits += fewest
        total += len(best)
    return wrong / len(references), edits / total

# %% wrong: the phoneme error rate is the mean of the rates of the words instead of all edits divided by all sounds
def error_rates(hypotheses, references):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            new = [i]
            for j, y in enumerate(b, 1):
                new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
            row = new
        return row[-1]

    wrong, rates = 0, []
    for hyp, accepted in zip(hypotheses, references):
        edits = [distance(hyp, ref) for ref in accepted]
        best = edits.index(min(edits))
        wrong += tuple(hyp) not in accepted
        rates.append(edits[best] / len(accepted[best]))
    return wrong / len(hypotheses), sum(rates) / len(rates)

# %% wrong: counts edits place by place plus the difference of the lengths, so one missing sound at the front shifts all the rest into errors
def error_rates(hypotheses, references):
    def places(a, b):
        return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))

    wrong = edits = total = 0
    for hyp, accepted in zip(hypotheses, references):
        best = min(accepted, key=lambda ref: places(hyp, ref))
        wrong += tuple(hyp) not in accepted
        edits += places(hyp, best)
        total += len(best)
    return wrong / len(hypotheses), edits / total

# %% right: the edit distance as a recursion with memory
def error_rates(hypotheses, references):
    from functools import lru_cache

    def edits_between(a, b):
        @lru_cache(maxsize=None)
        def d(i, j):
            if i == 0 or j == 0:
                return i + j
            return min(d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

        return d(len(a), len(b))

    wrong, edits, total = 0, 0, 0
    for hyp, accepted in zip(hypotheses, references, strict=True):
        pairs = [(edits_between(hyp, ref), len(ref)) for ref in accepted]
        fewest = min(e for e, _ in pairs)
        wrong += fewest != 0
        edits += fewest
        total += next(n for e, n in pairs if e == fewest)
    return wrong / len(hypotheses), edits / total

# %% right: the edit distance with a full table in a tensor
def error_rates(hypotheses, references):
    def table(a, b):
        t = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.long)
        t[:, 0] = torch.arange(len(a) + 1)
        t[0] = torch.arange(len(b) + 1)
        for i, x in enumerate(a, 1):
            for j, y in enumerate(b, 1):
                t[i, j] = min(int(t[i - 1, j]) + 1, int(t[i, j - 1]) + 1, int(t[i - 1, j - 1]) + int(x != y))
        return int(t[-1, -1])

    chosen = [min(((table(h, r), k, len(r)) for k, r in enumerate(refs)), key=lambda c: c[:2]) for h, refs in zip(hypotheses, references)]
    wer = sum(list(h) not in [list(r) for r in refs] for h, refs in zip(hypotheses, references)) / len(references)
    return wer, sum(c[0] for c in chosen) / sum(c[2] for c in chosen)
