# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: the fewest edits and the shortest length are found separately, so the length added may belong to another pronunciation than the nearest
def phoneme_error_rate(hypotheses, references):
    edits = sum(min(edit_distance(h, r) for r in refs) for h, refs in zip(hypotheses, references))
    length = sum(min(len(r) for r in refs) for refs in references)
    return edits / length

# %% wrong: takes as nearest the pronunciation with the lowest edits per phoneme instead of the fewest edits
def phoneme_error_rate(hypotheses, references):
    edits = length = 0
    for h, refs in zip(hypotheses, references):
        best = min(refs, key=lambda r: edit_distance(h, r) / len(r))
        edits += edit_distance(h, best)
        length += len(best)
    return edits / length

# %% wrong: words with an empty hypothesis are skipped, so their missing phonemes are not counted (and if all are empty it divides by zero)
def phoneme_error_rate(hypotheses, references):
    edits = length = 0
    for h, refs in zip(hypotheses, references):
        if not h:
            continue
        best = min(refs, key=lambda r: edit_distance(h, r))
        edits += edit_distance(h, best)
        length += len(best)
    return edits / length

# %% wrong: averages the error rates of the words instead of dividing the total edits by the total length
def phoneme_error_rate(hypotheses, references):
    rates = []
    for h, refs in zip(hypotheses, references):
        best = min(refs, key=lambda r: edit_distance(h, r))
        rates.append(edit_distance(h, best) / len(best))
    return sum(rates) / len(rates)

# %% right: pairs (edits, length) are compared as tuples and their columns added up
def phoneme_error_rate(hypotheses, references):
    pairs = [min((edit_distance(h, r), len(r)) for r in refs) for h, refs in zip(hypotheses, references)]
    edits, lengths = zip(*pairs)
    return sum(edits) / sum(lengths)

# %% right: its own table of edit distances instead of edit_distance; among equally near pronunciations the last one counts
def phoneme_error_rate(hypotheses, references):
    def edits_between(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, start=1):
            previous, row = row, [i]
            for j, y in enumerate(b, start=1):
                row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (x != y)))
        return row[-1]

    total = phonemes = 0
    for i in range(len(hypotheses)):
        fewest, size = None, None
        for r in references[i]:
            e = edits_between(hypotheses[i], r)
            if fewest is None or e <= fewest:
                fewest, size = e, len(r)
        total += fewest
        phonemes += size
    return total / phonemes
