# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: takes the rate of each word and averages over the words, instead of dividing the sum of the edits by the sum of the lengths
def phoneme_error_rate(hypotheses, references):
    rates = []
    for hypothesis, accepted in zip(hypotheses, references):
        best = min(accepted, key=lambda r: edit_distance(hypothesis, r))
        rates.append(edit_distance(hypothesis, best) / len(best))
    return sum(rates) / len(rates)

# %% wrong: takes the pronunciation with the lowest rate (edits divided by length) instead of the one with the fewest edits
def phoneme_error_rate(hypotheses, references):
    edits, length = 0, 0
    for hypothesis, accepted in zip(hypotheses, references):
        best = min(accepted, key=lambda r: edit_distance(hypothesis, r) / len(r))
        edits += edit_distance(hypothesis, best)
        length += len(best)
    return edits / length

# %% wrong: cuts the result off at 1, though it may be above 1
def phoneme_error_rate(hypotheses, references):
    edits, length = 0, 0
    for hypothesis, accepted in zip(hypotheses, references):
        best = min(accepted, key=lambda r: edit_distance(hypothesis, r))
        edits += edit_distance(hypothesis, best)
        length += len(best)
    return min(1.0, edits / length)

# %% wrong: joins the phonemes into one string, so it counts edits of characters and not of phonemes
def phoneme_error_rate(hypotheses, references):
    edits, length = 0, 0
    for hypothesis, accepted in zip(hypotheses, references):
        distances = [edit_distance("".join(hypothesis), "".join(r)) for r in accepted]
        nearest = distances.index(min(distances))
        edits += distances[nearest]
        length += len(accepted[nearest])
    return edits / length

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

# %% wrong: takes the most edits of all accepted pronunciations, and the length of the first
def phoneme_error_rate(hypotheses, references):
    edits = length = 0
    for said, accepted in zip(hypotheses, references):
        edits += max(edit_distance(said, right) for right in accepted)
        length += len(accepted[0])
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

# %% wrong: divides by the length of what was said
def phoneme_error_rate(hypotheses, references):
    edits = length = 0
    for said, accepted in zip(hypotheses, references):
        edits += min(edit_distance(said, ref) for ref in accepted)
        length += len(said)
    return edits / max(length, 1)

# %% wrong: adds the lengths of all accepted pronunciations
def phoneme_error_rate(hypotheses, references):
    edits = length = 0
    for said, accepted in zip(hypotheses, references):
        edits += min(edit_distance(said, ref) for ref in accepted)
        length += sum(len(ref) for ref in accepted)
    return edits / length
