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


# %% wrong: divides by the number of symbols that were said instead of those of the references
def evaluate(step, references, start_id, end_id, max_len):
    edits, everything = 0, []
    for w, ref in enumerate(references):
        seq = [start_id]
        while len(seq) - 1 < max_len:
            nxt = step(w, seq).argmax().item()
            if nxt == end_id:
                break
            seq.append(nxt)
        everything.append(seq[1:])
        edits += edit_distance(seq[1:], ref)
    return edits / sum(map(len, everything)), everything


# %% wrong: the prefix begins with the first true sound, it is never said
def evaluate(step, references, start_id, end_id, max_len):
    edits = total = 0
    everything = []
    for w, ref in enumerate(references):
        said = list(ref[:1])
        while len(said) < max_len:
            nxt = step(w, [start_id, *said]).argmax().item()
            if nxt == end_id:
                break
            said.append(nxt)
        everything.append(said)
        edits += edit_distance(said, ref)
        total += len(ref)
    return edits / total, everything


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
