# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce


# %% wrong: the model is still fed the reference, its own symbol is compared by edit distance but never fed back
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    all_said = []
    for word, reference in enumerate(references):
        prefix, said = [start_id], []
        for sound in reference[:max_len]:
            symbol = int(step(word, prefix).argmax())
            if symbol == end_id:
                break
            said.append(symbol)
            prefix.append(sound)
        all_said.append(said)
        edits += edit_distance(said, reference)
        total += len(reference)
    return edits / total, all_said


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


# %% wrong: counts wrong symbols place by place (and the difference in length) instead of edits, so one missing symbol makes all that follow wrong
def evaluate(step, references, start_id, end_id, max_len):
    wrong = total = 0
    all_said = []
    for word, reference in enumerate(references):
        prefix, said = [start_id], []
        for _ in range(max_len):
            symbol = int(step(word, prefix).argmax())
            if symbol == end_id:
                break
            said.append(symbol)
            prefix.append(symbol)
        all_said.append(said)
        wrong += sum(a != b for a, b in zip(said, reference)) + abs(len(said) - len(reference))
        total += len(reference)
    return wrong / total, all_said


# %% wrong: the start symbol counts towards max_len, so a word that does not end by itself gets only max_len - 1 symbols
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    all_said = []
    for word, reference in enumerate(references):
        prefix = [start_id]
        while len(prefix) < max_len:
            symbol = int(step(word, prefix).argmax())
            if symbol == end_id:
                break
            prefix.append(symbol)
        all_said.append(prefix[1:])
        edits += edit_distance(prefix[1:], reference)
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


# %% right: a function for one word that reads the largest score from a list, and an edit distance of its own
def evaluate(step, references, start_id, end_id, max_len):
    def say(word):
        said = []
        while len(said) < max_len:
            scores = step(word, [start_id] + said).tolist()
            symbol = scores.index(max(scores))
            if symbol == end_id:
                return said
            said = said + [symbol]
        return said

    def distance(a, b):
        row = list(range(len(b) + 1))
        for x in a:
            new = [row[0] + 1]
            for j, y in enumerate(b):
                new.append(min(row[j] + (x != y), row[j + 1] + 1, new[j] + 1))
            row = new
        return row[-1]

    all_said, edits, total = [], 0, 0
    for word, reference in enumerate(references):
        all_said.append(say(word))
        edits += distance(all_said[-1], reference)
        total += len(reference)
    return edits / total, all_said


# %% right: all words go forward together, one symbol a round, until all have ended
def evaluate(step, references, start_id, end_id, max_len):
    all_said = [[] for _ in references]
    going = set(range(len(references)))
    for _ in range(max_len):
        for word in sorted(going):
            symbol = int(step(word, [start_id, *all_said[word]]).topk(1).indices)
            if symbol == end_id:
                going.discard(word)
            else:
                all_said[word].append(symbol)
    total = sum(len(reference) for reference in references)
    return sum(edit_distance(a, b) for a, b in zip(all_said, references)) / total, all_said


# %% wrong: named in the review: an empty word is never said: the end symbol ends only after at least one sound
def evaluate(step, references, start_id, end_id, max_len):
    wrong = total = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        while len(said) < max_len:
            symbol = int(step(word, [start_id, *said]).argmax())
            if symbol == end_id and said:
                break
            said.append(symbol)
        wrong, total = wrong + edit_distance(said, reference), total + len(reference)
        all_said.append(said)
    return wrong / total, all_said


# %% wrong: named in the review: an empty word is never said: the end symbol is left out of the choice at the first step
def evaluate(step, references, start_id, end_id, max_len):
    wrong = total = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        while len(said) < max_len:
            scores = step(word, [start_id, *said]).clone()
            if not said:
                scores[end_id] = float("-inf")
            symbol = int(scores.argmax())
            if symbol == end_id:
                break
            said.append(symbol)
        wrong, total = wrong + edit_distance(said, reference), total + len(reference)
        all_said.append(said)
    return wrong / total, all_said


# %% wrong: named in the review: the start symbol ends a word too
def evaluate(step, references, start_id, end_id, max_len):
    wrong = total = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        while len(said) < max_len:
            symbol = int(step(word, [start_id, *said]).argmax())
            if symbol in (start_id, end_id):
                break
            said.append(symbol)
        wrong, total = wrong + edit_distance(said, reference), total + len(reference)
        all_said.append(said)
    return wrong / total, all_said


# %% wrong: named in the review: what was said is capped at the length of the reference
def evaluate(step, references, start_id, end_id, max_len):
    wrong = total = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        while len(said) < min(max_len, len(reference)):
            symbol = int(step(word, [start_id, *said]).argmax())
            if symbol == end_id:
                break
            said.append(symbol)
        wrong, total = wrong + edit_distance(said, reference), total + len(reference)
        all_said.append(said)
    return wrong / total, all_said


# %% wrong: named in the review: the rate is capped: min(1, rate)
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


# %% wrong: named in the review: while True without heeding max_len, keeps asking for a word that never ends
def evaluate(step, references, start_id, end_id, max_len):
    wrong = total = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        while True:
            symbol = int(step(word, [start_id, *said]).argmax())
            if symbol == end_id:
                break
            said.append(symbol)
        wrong, total = wrong + edit_distance(said, reference), total + len(reference)
        all_said.append(said)
    return wrong / total, all_said


# %% wrong: named in the review: while True with the prefix never grown, so the same symbol comes for ever
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


# %% wrong: each word counts with the longer of what was said and its reference
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    out = []
    for w, ref in enumerate(references):
        prefix = [start_id]
        said = []
        while len(said) < max_len:
            s = int(step(w, prefix).argmax())
            if s == end_id:
                break
            said.append(s)
            prefix.append(s)
        out.append(said)
        edits += edit_distance(said, ref)
        total += max(len(said), len(ref))
    return edits / total, out
