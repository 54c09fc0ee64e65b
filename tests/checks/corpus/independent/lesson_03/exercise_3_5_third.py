# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance


# %% wrong: takes the pronunciation with the smallest rate, edits per phoneme, instead of the one with the fewest edits
def phoneme_error_rate(hypotheses, references):
    edits = length = 0
    for hypothesis, options in zip(hypotheses, references):
        best = min(options, key=lambda option: edit_distance(hypothesis, option) / len(option))
        edits += edit_distance(hypothesis, best)
        length += len(best)
    return edits / length


# %% wrong: adds the fewest edits and the length of the shortest pronunciation, which need not be the same one
def phoneme_error_rate(hypotheses, references):
    edits = sum(min(edit_distance(h, option) for option in options) for h, options in zip(hypotheses, references))
    length = sum(min(len(option) for option in options) for options in references)
    return edits / length


# %% wrong: sorts the given list of pronunciations in place to get the nearest, so the number is right but the argument is changed
def phoneme_error_rate(hypotheses, references):
    edits, length = 0, 0
    for hypothesis, options in zip(hypotheses, references):
        options.sort(key=lambda option: edit_distance(hypothesis, option))
        edits += edit_distance(hypothesis, options[0])
        length += len(options[0])
    return edits / length


# %% wrong: skips words with an empty hypothesis, neither their edits nor their lengths count
def phoneme_error_rate(hypotheses, references):
    edits, length = 0, 0
    for hypothesis, options in zip(hypotheses, references):
        if not hypothesis:
            continue
        distance, n = min((edit_distance(hypothesis, option), len(option)) for option in options)
        edits += distance
        length += n
    return edits / length if length else 0.0


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


# %% right: picks by argmin in tensors of distances and lengths and divides the sums in 64 bits
def phoneme_error_rate(hypotheses, references):
    totals = torch.zeros(2, dtype=torch.float64)
    for hypothesis, options in zip(hypotheses, references):
        table = torch.tensor([[edit_distance(hypothesis, r), len(r)] for r in options], dtype=torch.float64)
        totals = totals + table[table[:, 0].argmin()]
    return (totals[0] / totals[1]).item()

# %% wrong: takes the most edits of all accepted pronunciations, and the length of the first
def phoneme_error_rate(hypotheses, references):
    edits = length = 0
    for said, accepted in zip(hypotheses, references):
        edits += max(edit_distance(said, right) for right in accepted)
        length += len(accepted[0])
    return edits / length
