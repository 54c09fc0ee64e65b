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
