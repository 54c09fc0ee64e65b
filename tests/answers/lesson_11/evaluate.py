# %% setup
import random

import torch

from course_utils import metrics, pretrained
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.pretrained.pronunciation import pronounce

# %% wrong: always says as many symbols as the reference has, it neither stops at the end symbol nor goes on beyond the reference's length
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    all_said = []
    for word, reference in enumerate(references):
        prefix = [start_id]
        for _ in reference:
            prefix.append(int(step(word, prefix).argmax()))
        said = prefix[1:]
        all_said.append(said)
        edits += edit_distance(said, reference)
        total += len(reference)
    return edits / total, all_said

# %% wrong: the end symbol is kept in what was said and counts as an extra sound
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    all_said = []
    for word, reference in enumerate(references):
        prefix = [start_id]
        while len(prefix) <= max_len and prefix[-1] != end_id:
            prefix.append(int(step(word, prefix).argmax()))
        said = prefix[1:]
        all_said.append(said)
        edits += edit_distance(said, reference)
        total += len(reference)
    return edits / total, all_said

# %% wrong: goes on until the end symbol without heeding max_len, so a word that never ends by itself runs for ever
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        symbol = int(step(word, [start_id]).argmax())
        while symbol != end_id:
            said.append(symbol)
            symbol = int(step(word, [start_id, *said]).argmax())
        all_said.append(said)
        edits += edit_distance(said, reference)
        total += len(reference)
    return edits / total, all_said

# %% two mistakes: the rate is the mean of the words' own rates instead of all edits divided by all symbols; and the start symbol stays in what was said
def evaluate(step, references, start_id, end_id, max_len):
    rates, all_said = [], []
    for word, reference in enumerate(references):
        said = [start_id]
        for _ in range(max_len):
            symbol = int(step(word, said).argmax())
            if symbol == end_id:
                break
            said.append(symbol)
        all_said.append(said)
        rates.append(edit_distance(said[1:], reference) / len(reference))
    return sum(rates) / len(rates), all_said

# %% wrong: the rate is capped: min(1, rate)
def evaluate(step, references, start_id, end_id, max_len):
    wrong = total = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        while len(said) < max_len:
            symbol = int(step(word, [start_id, *said]).argmax())
            if symbol == end_id:
                break
            said.append(symbol)
        wrong, total = wrong + edit_distance(said, reference), total + len(reference)
        all_said.append(said)
    return min(1.0, wrong / total), all_said

# %% wrong: while True with the prefix never grown, so the same symbol comes for ever
def evaluate(step, references, start_id, end_id, max_len):
    wrong = total = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        while True:
            symbol = int(step(word, [start_id]).argmax())
            if symbol == end_id:
                break
            said.append(symbol)
        wrong, total = wrong + edit_distance(said, reference), total + len(reference)
        all_said.append(said)
    return wrong / total, all_said

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

# %% right: a generator says the symbols, itertools takes at most max_len of them
def evaluate(step, references, start_id, end_id, max_len):
    from itertools import islice, takewhile

    def symbols(word):
        prefix = [start_id]
        while True:
            prefix.append(torch.argmax(step(word, list(prefix)), dim=0).item())
            yield prefix[-1]

    all_said = [list(takewhile(lambda s: s != end_id, islice(symbols(word), max_len))) for word in range(len(references))]
    edits = sum(edit_distance(said, reference) for said, reference in zip(all_said, references, strict=True))
    return edits / sum(map(len, references)), all_said

# %% setup
import torch

from course_utils.metrics import edit_distance

# %% wrong: the words that were said right are counted, it is the word error rate
def evaluate(step, references, start_id, end_id, max_len):
    wrong, everything = 0, []
    for w, ref in enumerate(references):
        seq = [start_id]
        while len(seq) - 1 < max_len:
            nxt = step(w, seq).argmax().item()
            if nxt == end_id:
                break
            seq.append(nxt)
        everything.append(seq[1:])
        wrong += seq[1:] != list(ref)
    return wrong / len(references), everything

# %% right: lets all words speak in turn, one symbol each per round, and takes those that have ended out
def evaluate(step, references, start_id, end_id, max_len):
    said = {word: [] for word in range(len(references))}
    speaking = set(said)
    for _ in range(max_len):
        for word in sorted(speaking):
            scores = step(word, [start_id] + said[word]).tolist()
            symbol = scores.index(max(scores))
            if symbol == end_id:
                speaking.discard(word)
            else:
                said[word].append(symbol)
    edits = [edit_distance(said[word], reference) for word, reference in enumerate(references)]
    return sum(edits) / len([s for reference in references for s in reference]), list(said.values())

# %% right: builds the prefix as one list and slices, the counting done by a comprehension at the end
def evaluate(step, references, start_id, end_id, max_len):
    everything = []
    for w, _ in enumerate(references):
        prefix = [start_id]
        for _ in range(max_len):
            prefix += [torch.argmax(step(w, prefix)).item()]
            if prefix[-1] == end_id:
                prefix.pop()
                break
        everything += [prefix[1:]]
    pairs = zip(everything, references, strict=True)
    return sum(edit_distance(a, b) for a, b in pairs) / sum(len(b) for b in references), everything
