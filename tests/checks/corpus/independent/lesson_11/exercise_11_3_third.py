# %% setup
from difflib import SequenceMatcher
from functools import lru_cache

import torch


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]


# %% wrong: takes the pronunciation with the smallest share of edits in its length, not the one with the fewest edits
def error_rates(hypotheses, references):
    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        wrong += tuple(said) not in accepted
        nearest = min(accepted, key=lambda r: distance(said, r) / len(r))
        edits += distance(said, nearest)
        sounds += len(nearest)
    return wrong / len(hypotheses), edits / sounds


# %% wrong: compares the words as joined letters, so that sounds with other borders, as S and H against SH, pass for right
def error_rates(hypotheses, references):
    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        wrong += "".join(said) not in ["".join(r) for r in accepted]
        nearest = min(accepted, key=lambda r: distance(said, r))
        edits += distance(said, nearest)
        sounds += len(nearest)
    return wrong / len(hypotheses), edits / sounds


# %% wrong: of several pronunciations with equally few edits takes the shortest instead of the first
def error_rates(hypotheses, references):
    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        fewest, length = min((distance(said, r), len(r)) for r in accepted)
        wrong += fewest > 0
        edits += fewest
        sounds += length
    return wrong / len(hypotheses), edits / sounds


# %% wrong: counts the edits in the matching blocks of difflib, which are not always the fewest
def error_rates(hypotheses, references):
    def edits_between(a, b):
        steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
        return sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in steps if kind != "equal")

    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        counts = [edits_between(tuple(said), r) for r in accepted]
        best = counts.index(min(counts))
        wrong += counts[best] > 0
        edits += counts[best]
        sounds += len(accepted[best])
    return wrong / len(hypotheses), edits / sounds


# %% right: finds the distance by recursion over what is left of both, remembering what is known
def error_rates(hypotheses, references):
    @lru_cache(maxsize=None)
    def fewest(a, b):
        if not a or not b:
            return len(a) + len(b)
        if a[-1] == b[-1]:
            return fewest(a[:-1], b[:-1])
        return 1 + min(fewest(a[:-1], b), fewest(a, b[:-1]), fewest(a[:-1], b[:-1]))

    rows = []
    for said, accepted in zip(map(tuple, hypotheses), references, strict=True):
        edits, _, length = min((fewest(said, tuple(r)), place, len(r)) for place, r in enumerate(accepted))
        rows.append((float(edits != 0), edits, length))
    wrong, edits, sounds = map(sum, zip(*rows, strict=True))
    return wrong / len(rows), edits / sounds


# %% right: finds the distance by spreading from place to place of the table, edit by edit, until the corner is reached
def error_rates(hypotheses, references):
    def spread(a, b):
        count, reached = 0, {(0, 0)}
        while True:
            frontier, seen = list(reached), set(reached)
            while frontier:  # equal sounds cost nothing
                i, j = frontier.pop()
                if i < len(a) and j < len(b) and a[i] == b[j] and (i + 1, j + 1) not in seen:
                    seen.add((i + 1, j + 1))
                    frontier.append((i + 1, j + 1))
            if (len(a), len(b)) in seen:
                return count
            moves = {(i + x, j + y) for i, j in seen for x, y in ((0, 1), (1, 0), (1, 1))}
            reached = {(i, j) for i, j in moves if i <= len(a) and j <= len(b)}
            count += 1

    right = sum(any(list(r) == list(said) for r in accepted) for said, accepted in zip(hypotheses, references, strict=True))
    total = length = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        counts = [spread(said, r) for r in accepted]
        total += min(counts)
        length += len(accepted[counts.index(min(counts))])
    return (len(hypotheses) - right) / len(hypotheses), total / length
