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

# %% wrong: skips words with an empty hypothesis, so neither their edits nor their length count
def phoneme_error_rate(hypotheses, references):
    edits, length = 0, 0
    for hypothesis, accepted in zip(hypotheses, references):
        if not hypothesis:
            continue
        best = min(accepted, key=lambda r: edit_distance(hypothesis, r))
        edits += edit_distance(hypothesis, best)
        length += len(best)
    return edits / length if length else 0.0

# %% two mistakes: compares with the first accepted pronunciation only; and divides by the lengths of the hypotheses
def phoneme_error_rate(hypotheses, references):
    edits = sum(edit_distance(h, accepted[0]) for h, accepted in zip(hypotheses, references))
    return edits / max(1, sum(len(h) for h in hypotheses))

# %% right: writes the edit distance itself, row by row in a table
def phoneme_error_rate(hypotheses, references):
    def distance(a, b):
        previous = list(range(len(b) + 1))
        for i, x in enumerate(a, start=1):
            row = [i]
            for j, y in enumerate(b, start=1):
                row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (x != y)))
            previous = row
        return previous[-1]

    edits = length = 0
    for word, accepted in zip(hypotheses, references):
        best, size = None, None
        for pronunciation in accepted:
            e = distance(word, pronunciation)
            if best is None or e < best:
                best, size = e, len(pronunciation)
        edits, length = edits + best, length + size
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

# %% right: keeps edits and lengths in a tensor and returns a tensor without dimensions turned into a number
def phoneme_error_rate(hypotheses, references):
    totals = torch.zeros(2, dtype=torch.float64)
    for hypothesis, accepted in zip(hypotheses, references):
        edits = [edit_distance(r, hypothesis) for r in accepted]
        j = edits.index(min(edits))
        totals += torch.tensor([edits[j], len(accepted[j])], dtype=torch.float64)
    return (totals[0] / totals[1]).item()
