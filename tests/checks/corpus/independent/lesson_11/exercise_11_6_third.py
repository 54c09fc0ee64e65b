# %% setup
import torch

from course_utils.metrics import edit_distance


# %% wrong: takes every start symbol out of what was said, also those that the model said later
def evaluate(step, references, start_id, end_id, max_len):
    edits, all_said = 0, []
    for word, reference in enumerate(references):
        prefix = [start_id]
        for _ in range(max_len):
            symbol = int(step(word, prefix).argmax())
            if symbol == end_id:
                break
            prefix.append(symbol)
        said = [s for s in prefix if s != start_id]
        edits += edit_distance(said, reference)
        all_said.append(said)
    return edits / sum(len(r) for r in references), all_said


# %% wrong: cuts off the last symbol as if it were the end symbol, also of words that did not end within max_len
def evaluate(step, references, start_id, end_id, max_len):
    edits, all_said = 0, []
    for word, reference in enumerate(references):
        prefix = [start_id]
        while len(prefix) <= max_len:
            prefix.append(int(step(word, prefix).argmax()))
            if prefix[-1] == end_id:
                break
        said = prefix[1:-1]
        edits += edit_distance(said, reference)
        all_said.append(said)
    return edits / sum(len(r) for r in references), all_said


# %% wrong: compares place by place and adds the difference of the lengths, which is more than the fewest edits where a symbol is missing or added
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    all_said = []
    for word, reference in enumerate(references):
        said = []
        while len(said) < max_len:
            symbol = int(step(word, [start_id, *said]).argmax())
            if symbol == end_id:
                break
            said.append(symbol)
        edits += sum(a != b for a, b in zip(said, reference, strict=False)) + abs(len(said) - len(reference))
        total += len(reference)
        all_said.append(said)
    return edits / total, all_said


# %% wrong: counts at most as many edits for a word as its reference has symbols
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    all_said = []
    for word, reference in enumerate(references):
        prefix = [start_id]
        for _ in range(max_len):
            symbol = int(step(word, prefix).argmax())
            if symbol == end_id:
                break
            prefix.append(symbol)
        edits += min(edit_distance(prefix[1:], reference), len(reference))
        total += len(reference)
        all_said.append(prefix[1:])
    return edits / total, all_said


# %% right: a generator speaks the symbols of one word until the end; the distance is worked out here
def evaluate(step, references, start_id, end_id, max_len):
    def speak(word):
        prefix = [start_id]
        for _ in range(max_len):
            symbol = int(torch.max(step(word, list(prefix)), dim=-1).indices)
            if symbol == end_id:
                return
            yield symbol
            prefix.append(symbol)

    def fewest(a, b):
        above = list(range(len(b) + 1))
        for i in range(len(a)):
            row = [i + 1]
            for j in range(len(b)):
                row.append(min(above[j + 1] + 1, row[j] + 1, above[j] + int(a[i] != b[j])))
            above = row
        return above[-1]

    said = [list(speak(word)) for word in range(len(references))]
    return sum(map(fewest, said, references)) / sum(map(len, references)), said


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
