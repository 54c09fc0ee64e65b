# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce


# %% wrong: looks for the hypothesis, a list, among tuples, where a list is never found, so every word counts as wrong
def error_rates(hypotheses, references):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            last, row[0] = row[0], i
            for j, y in enumerate(b, 1):
                last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
        return row[-1]

    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        wrong += said not in accepted
        best = min(accepted, key=lambda r: distance(said, r))
        edits += distance(said, best)
        sounds += len(best)
    return wrong / len(hypotheses), edits / sounds


# %% wrong: the phoneme error rate is the mean of the words' own rates, not all edits divided by all sounds
def error_rates(hypotheses, references):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            last, row[0] = row[0], i
            for j, y in enumerate(b, 1):
                last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
        return row[-1]

    wrong = rates = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        wrong += tuple(said) not in accepted
        best = min(accepted, key=lambda r: distance(said, r))
        rates += distance(said, best) / len(best)
    return wrong / len(hypotheses), rates / len(hypotheses)


# %% wrong: the fewest edits are taken, but always the length of the first accepted pronunciation is added
def error_rates(hypotheses, references):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            last, row[0] = row[0], i
            for j, y in enumerate(b, 1):
                last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
        return row[-1]

    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        wrong += tuple(said) not in accepted
        best = min(accepted, key=lambda r: distance(said, r))
        edits += distance(said, best)
        sounds += len(accepted[0])
    return wrong / len(hypotheses), edits / sounds


# %% wrong: of several pronunciations with equally few edits it takes the last instead of the first
def error_rates(hypotheses, references):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            last, row[0] = row[0], i
            for j, y in enumerate(b, 1):
                last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
        return row[-1]

    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        wrong += tuple(said) not in accepted
        best = min(reversed(accepted), key=lambda r: distance(said, r))
        edits += distance(said, best)
        sounds += len(best)
    return wrong / len(hypotheses), edits / sounds


# %% wrong: the edit distance also lets two neighbouring sounds be exchanged for one edit, which should be two
def error_rates(hypotheses, references):
    def distance(a, b):
        d = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
                if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                    d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1)
        return d[len(a)][len(b)]

    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        wrong += tuple(said) not in accepted
        best = min(accepted, key=lambda r: distance(said, r))
        edits += distance(said, best)
        sounds += len(best)
    return wrong / len(hypotheses), edits / sounds


# %% wrong: the pronunciation is chosen by the lowest rate (edits divided by its length) and not by the fewest edits
def error_rates(hypotheses, references):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            last, row[0] = row[0], i
            for j, y in enumerate(b, 1):
                last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
        return row[-1]

    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        wrong += tuple(said) not in accepted
        best = min(accepted, key=lambda r: distance(said, r) / len(r))
        edits += distance(said, best)
        sounds += len(best)
    return wrong / len(hypotheses), edits / sounds


# %% two mistakes: a word counts as wrong unless it is the first accepted pronunciation; and the edits are divided by the length of what was said
def error_rates(hypotheses, references):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            last, row[0] = row[0], i
            for j, y in enumerate(b, 1):
                last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
        return row[-1]

    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        wrong += tuple(said) != accepted[0]
        best = min(accepted, key=lambda r: distance(said, r))
        edits += distance(said, best)
        sounds += len(said)
    return wrong / len(hypotheses), edits / sounds


# %% right: edit distance from the ends of the words towards their beginnings, in a dictionary, and a running list of (edits, length) pairs
def error_rates(hypotheses, references):
    def distance(a, b):
        rest = {}
        for i in range(len(a), -1, -1):
            for j in range(len(b), -1, -1):
                if i == len(a) or j == len(b):
                    rest[i, j] = len(a) - i + len(b) - j
                elif a[i] == b[j]:
                    rest[i, j] = rest[i + 1, j + 1]
                else:
                    rest[i, j] = 1 + min(rest[i + 1, j], rest[i, j + 1], rest[i + 1, j + 1])
        return rest[0, 0]

    pairs = []
    wrong = 0
    for said, accepted in zip(hypotheses, references):
        if all(list(reference) != list(said) for reference in accepted):
            wrong += 1
        edits = [distance(said, reference) for reference in accepted]
        fewest = edits.index(min(edits))
        pairs.append((edits[fewest], len(accepted[fewest])))
    return wrong / len(references), sum(e for e, _ in pairs) / sum(n for _, n in pairs)


# %% right: the full table of distances in a tensor, and a word is wrong if its fewest edits are more than 0
def error_rates(hypotheses, references):
    def distance(a, b):
        d = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.long)
        d[:, 0] = torch.arange(len(a) + 1)
        d[0, :] = torch.arange(len(b) + 1)
        for i in range(len(a)):
            for j in range(len(b)):
                change = d[i, j] + int(a[i] != b[j])
                d[i + 1, j + 1] = min(change, d[i, j + 1] + 1, d[i + 1, j] + 1)
        return int(d[-1, -1])

    best = []
    for h, refs in zip(hypotheses, references, strict=True):
        scored = [(distance(h, r), n) for n, r in enumerate(refs)]
        edits, first = min(scored)
        best.append((edits, len(refs[first])))
    word_error_rate = sum(edits > 0 for edits, _ in best) / len(best)
    return word_error_rate, sum(edits for edits, _ in best) / sum(length for _, length in best)


# %% right: counts deletions and insertions with a breadth-first search over the two places
def error_rates(hypotheses, references):
    def distance(a, b):
        front, edits, seen = {(0, 0)}, 0, set()
        while True:
            reached = set()
            for i, j in front:  # equal sounds cost nothing
                while True:
                    reached.add((i, j))
                    if i < len(a) and j < len(b) and a[i] == b[j]:
                        i, j = i + 1, j + 1
                    else:
                        break
            if (len(a), len(b)) in reached:
                return edits
            seen |= reached
            moves = {(i + di, j + dj) for i, j in reached for di, dj in ((1, 0), (0, 1), (1, 1))}
            front = {(i, j) for i, j in moves if i <= len(a) and j <= len(b)} - seen
            edits += 1

    wrong, edits, sounds = [], 0, 0
    for word in range(len(hypotheses)):
        said = tuple(hypotheses[word])
        wrong.append(said not in [tuple(r) for r in references[word]])
        fewest = None
        for reference in references[word]:
            d = distance(said, reference)
            if fewest is None or d < fewest[0]:
                fewest = d, len(reference)
        edits, sounds = edits + fewest[0], sounds + fewest[1]
    return sum(wrong) / len(wrong), edits / sounds


# %% wrong: named in the review: the rate is capped: min(1, rate)
def distance(a, b):
    table = [list(range(len(b) + 1))]
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(row[-1] + 1, table[-1][j] + 1, table[-1][j - 1] + (x != y)))
        table.append(row)
    return table[-1][-1]


def error_rates(hypotheses, references):
    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references):
        wrong += tuple(said) not in accepted
        best = min(accepted, key=lambda reference: distance(said, reference))
        edits += distance(said, best)
        sounds += len(best)
    return wrong / len(references), min(1.0, edits / sounds)


# %% wrong: named in the review: takes the pronunciation whose length is nearest
def distance(a, b):
    table = [list(range(len(b) + 1))]
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(row[-1] + 1, table[-1][j] + 1, table[-1][j - 1] + (x != y)))
        table.append(row)
    return table[-1][-1]


def error_rates(hypotheses, references):
    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references):
        wrong += tuple(said) not in accepted
        best = min(accepted, key=lambda reference: abs(len(reference) - len(said)))
        edits += distance(said, best)
        sounds += len(best)
    return wrong / len(references), edits / sounds


# %% wrong: named in the review: min((distance, reference)): of several with equally few edits the first in alphabetical order
def distance(a, b):
    table = [list(range(len(b) + 1))]
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(row[-1] + 1, table[-1][j] + 1, table[-1][j - 1] + (x != y)))
        table.append(row)
    return table[-1][-1]


def error_rates(hypotheses, references):
    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references):
        wrong += tuple(said) not in accepted
        best = min((distance(said, reference), reference) for reference in accepted)[1]
        edits += distance(said, best)
        sounds += len(best)
    return wrong / len(references), edits / sounds


# %% wrong: named in the review: both borders of the table are zero
def distance(a, b):
    table = [[0] * (len(b) + 1)]
    for i, x in enumerate(a, start=1):
        row = [0]
        for j, y in enumerate(b, start=1):
            row.append(min(row[-1] + 1, table[-1][j] + 1, table[-1][j - 1] + (x != y)))
        table.append(row)
    return table[-1][-1]


def error_rates(hypotheses, references):
    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references):
        wrong += tuple(said) not in accepted
        best = min(accepted, key=lambda reference: distance(said, reference))
        edits += distance(said, best)
        sounds += len(best)
    return wrong / len(references), edits / sounds


# %% wrong: named in the review: the first row of the table is zero
def distance(a, b):
    table = [[0] * (len(b) + 1)]
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(row[-1] + 1, table[-1][j] + 1, table[-1][j - 1] + (x != y)))
        table.append(row)
    return table[-1][-1]


def error_rates(hypotheses, references):
    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references):
        wrong += tuple(said) not in accepted
        best = min(accepted, key=lambda reference: distance(said, reference))
        edits += distance(said, best)
        sounds += len(best)
    return wrong / len(references), edits / sounds


# %% wrong: named in the review: the first column of the table is zero
def distance(a, b):
    table = [list(range(len(b) + 1))]
    for i, x in enumerate(a, start=1):
        row = [0]
        for j, y in enumerate(b, start=1):
            row.append(min(row[-1] + 1, table[-1][j] + 1, table[-1][j - 1] + (x != y)))
        table.append(row)
    return table[-1][-1]


def error_rates(hypotheses, references):
    wrong = edits = sounds = 0
    for said, accepted in zip(hypotheses, references):
        wrong += tuple(said) not in accepted
        best = min(accepted, key=lambda reference: distance(said, reference))
        edits += distance(said, best)
        sounds += len(best)
    return wrong / len(references), edits / sounds
