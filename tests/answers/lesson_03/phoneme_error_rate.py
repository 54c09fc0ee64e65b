# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: takes the edits to the nearest pronunciation but the length of the first one in the list
def phoneme_error_rate(hypotheses, references):
    edits = sum(min(edit_distance(h, r) for r in accepted) for h, accepted in zip(hypotheses, references))
    length = sum(len(accepted[0]) for accepted in references)
    return edits / length

# %% two mistakes: compares with the first accepted pronunciation only; and divides by the lengths of the hypotheses
def phoneme_error_rate(hypotheses, references):
    edits = sum(edit_distance(h, accepted[0]) for h, accepted in zip(hypotheses, references))
    return edits / max(1, sum(len(h) for h in hypotheses))

# %% wrong: the fewest edits and the shortest length are found separately, so the length added may belong to another pronunciation than the nearest
def phoneme_error_rate(hypotheses, references):
    edits = sum(min(edit_distance(h, r) for r in refs) for h, refs in zip(hypotheses, references))
    length = sum(min(len(r) for r in refs) for refs in references)
    return edits / length

# %% wrong: sorts the given list of pronunciations in place to get the nearest, so the number is right but the argument is changed
def phoneme_error_rate(hypotheses, references):
    edits, length = 0, 0
    for hypothesis, options in zip(hypotheses, references):
        options.sort(key=lambda option: edit_distance(hypothesis, option))
        edits += edit_distance(hypothesis, options[0])
        length += len(options[0])
    return edits / length

# %% right: makes one list of pairs (edits, length) for each word, takes the smallest edits by a stable sort, and adds up the columns
def phoneme_error_rate(hypotheses, references):
    nearest = []
    for i in range(len(hypotheses)):
        pairs = [(edit_distance(hypotheses[i], r), len(r)) for r in references[i]]
        pairs.sort(key=lambda pair: pair[0])
        nearest.append(pairs[0])
    all_edits, all_lengths = zip(*nearest)
    return sum(all_edits) / sum(all_lengths)

# %% right: pairs (edits, length) are compared as tuples and their columns added up
def phoneme_error_rate(hypotheses, references):
    pairs = [min((edit_distance(h, r), len(r)) for r in refs) for h, refs in zip(hypotheses, references)]
    edits, lengths = zip(*pairs)
    return sum(edits) / sum(lengths)

# %% right: a table of edits of its own, and for each word the smallest pair of edits and length
def phoneme_error_rate(hypotheses, references):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            new = [i]
            for j, y in enumerate(b, 1):
                new.append(min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (x != y)))
            row = new
        return row[-1]

    pairs = [min((distance(h, r), len(r)) for r in options) for h, options in zip(hypotheses, references)]
    edits, lengths = zip(*pairs)
    return sum(edits) / sum(lengths)

# %% setup
from course_utils.metrics import edit_distance

# %% wrong: only the first accepted pronunciation
def phoneme_error_rate(hypotheses, references):
    edits = sum(edit_distance(said, accepted[0]) for said, accepted in zip(hypotheses, references))
    return edits / sum(len(accepted[0]) for accepted in references)
