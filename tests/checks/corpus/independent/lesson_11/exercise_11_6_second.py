# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce

# %% wrong: takes every start_id out of what was said, also one that the model says later
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    all_said = []
    for word, reference in enumerate(references):
        prefix = [start_id]
        for _ in range(max_len):
            symbol = int(step(word, list(prefix)).argmax())
            if symbol == end_id:
                break
            prefix.append(symbol)
        said = [s for s in prefix if s != start_id]
        edits += edit_distance(said, reference)
        total += len(reference)
        all_said.append(said)
    return edits / total, all_said

# %% wrong: the rate is the mean of the words' own rates instead of all edits divided by all symbols
def evaluate(step, references, start_id, end_id, max_len):
    rates, all_said = [], []
    for word, reference in enumerate(references):
        said = []
        while len(said) < max_len:
            symbol = int(step(word, [start_id] + said).argmax())
            if symbol == end_id:
                break
            said.append(symbol)
        rates.append(edit_distance(said, reference) / len(reference))
        all_said.append(said)
    return sum(rates) / len(rates), all_said

# %% wrong: the start symbol counts towards max_len, so at most max_len - 1 symbols are said
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    all_said = []
    for word, reference in enumerate(references):
        prefix = [start_id]
        while len(prefix) < max_len:
            symbol = int(step(word, list(prefix)).argmax())
            if symbol == end_id:
                break
            prefix.append(symbol)
        edits += edit_distance(prefix[1:], reference)
        total += len(reference)
        all_said.append(prefix[1:])
    return edits / total, all_said

# %% wrong: says only as many symbols as the reference has, so a word that should go on longer is cut and extra symbols are no edits
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        for _ in range(min(len(reference), max_len)):
            symbol = int(step(word, [start_id] + said).argmax())
            if symbol == end_id:
                break
            said.append(symbol)
        edits += edit_distance(said, reference)
        total += len(reference)
        all_said.append(said)
    return edits / total, all_said

# %% right: a recursive helper says the word, and the edit distance is written by hand
def evaluate(step, references, start_id, end_id, max_len):
    def speak(word, prefix):
        if len(prefix) > max_len:
            return prefix[1:]
        symbol = step(word, list(prefix)).topk(1).indices.item()
        return prefix[1:] if symbol == end_id else speak(word, prefix + [symbol])

    def edits(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            new = [i]
            for j, y in enumerate(b, 1):
                new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
            row = new
        return row[-1]

    said = [speak(word, [start_id]) for word in range(len(references))]
    return sum(map(edits, said, references)) / sum(map(len, references)), said

# %% right: lets all words go on side by side, one step at a time, and drops those that have ended
def evaluate(step, references, start_id, end_id, max_len):
    prefixes = [[start_id] for _ in references]
    open_words = list(range(len(references)))
    for _ in range(max_len):
        still = []
        for word in open_words:
            symbol = int(torch.argmax(step(word, prefixes[word][:])))
            if symbol != end_id:
                prefixes[word].append(symbol)
                still.append(word)
        open_words = still
    said = [p[1:] for p in prefixes]
    edits = sum(edit_distance(a, b) for a, b in zip(said, references, strict=True))
    return edits / sum(len(r) for r in references), said
