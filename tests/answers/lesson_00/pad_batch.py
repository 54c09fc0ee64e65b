# %% setup
import torch

# %% wrong: puts the padding in front of the shorter sentences instead of at their end
def pad_batch(sequences, pad_id):
    length = max(len(s) for s in sequences)
    return torch.tensor([[pad_id] * (length - len(s)) + s for s in sequences])

# %% wrong: appends the padding to the lists it was given, so the caller's lists are changed
def pad_batch(sequences, pad_id):
    length = max(len(s) for s in sequences)
    for s in sequences:
        while len(s) < length:
            s.append(pad_id)
    return torch.tensor(sequences)

# %% wrong: returns float32 numbers, since the tensor is made by torch.ones without a dtype
def pad_batch(sequences, pad_id):
    length = max(len(s) for s in sequences)
    out = torch.ones(len(sequences), length) * pad_id
    for i, s in enumerate(sequences):
        out[i, : len(s)] = torch.tensor(s)
    return out

# %% wrong: fills with zeros first and then turns every zero into pad_id, so real tokens with id 0 become pad_id too
def pad_batch(sequences, pad_id):
    length = max(len(s) for s in sequences)
    out = torch.zeros(len(sequences), length, dtype=torch.long)
    for i, s in enumerate(sequences):
        out[i, : len(s)] = torch.tensor(s)
    out[out == 0] = pad_id
    return out

# %% wrong: builds the rows by [row] * B, which is the same list B times, so all rows end up overwritten by one another
def pad_batch(sequences, pad_id):
    length = max(len(s) for s in sequences)
    rows = [[pad_id] * length] * len(sequences)
    for i, s in enumerate(sequences):
        for j, token in enumerate(s):
            rows[i][j] = token
    return torch.tensor(rows)

# %% wrong: sorts the sentences by length (longest first), so the rows are no longer in the order given
def pad_batch(sequences, pad_id):
    ordered = sorted(sequences, key=len, reverse=True)
    length = len(ordered[0])
    return torch.tensor([s + [pad_id] * (length - len(s)) for s in ordered])

# %% two mistakes: the padding is put in front of the sentence and not at its end; and it is inserted into the lists given, which are thereby changed
def pad_batch(sequences, pad_id):
    length = max(len(s) for s in sequences)
    for s in sequences:
        for _ in range(length - len(s)):
            s.insert(0, pad_id)
    return torch.tensor(sequences, dtype=torch.int64)

# %% wrong: the longest sequence is sought with max(sequences), which compares the ids and not the lengths, so L can be too small (error or no common length)
def pad_batch(sequences, pad_id):
    longest = len(max(sequences))
    return torch.tensor([list(s) + [pad_id] * (longest - len(s)) for s in sequences])

# %% right: builds the columns with zip_longest and transposes
def pad_batch(sequences, pad_id):
    from itertools import zip_longest

    columns = list(zip_longest(*sequences, fillvalue=pad_id))
    return torch.tensor(columns, dtype=torch.int64).T

# %% setup
import torch
from itertools import zip_longest

# %% wrong: takes len(max(sequences)), the length of the alphabetically last list and not of the longest, so longer sentences are cut off
def pad_batch(sequences, pad_id):
    length = len(max(sequences))
    rows = []
    for s in sequences:
        rows.append([s[j] if j < len(s) else pad_id for j in range(length)])
    return torch.tensor(rows)

# %% wrong: pads with 0 whatever pad_id is
def pad_batch(sequences, pad_id):
    L = max(len(s) for s in sequences)
    return torch.tensor([s + [0] * (L - len(s)) for s in sequences])

# %% wrong: takes the length of the first sequence for L and cuts longer ones off
def pad_batch(sequences, pad_id):
    L = len(sequences[0])
    return torch.tensor([(s + [pad_id] * L)[:L] for s in sequences])

# %% right: fills a tensor with pads and writes all ids at once through a mask of positions below the lengths
def pad_batch(sequences, pad_id):
    lengths = torch.tensor([len(s) for s in sequences])
    batch = torch.full((len(sequences), int(lengths.max())), pad_id, dtype=torch.int64)
    batch[torch.arange(batch.shape[1]) < lengths[:, None]] = torch.tensor([token for s in sequences for token in s])
    return batch

# %% right: zip_longest makes the columns, a transpose makes rows of them
def pad_batch(sequences, pad_id):
    return torch.tensor(list(zip_longest(*sequences, fillvalue=pad_id))).T
