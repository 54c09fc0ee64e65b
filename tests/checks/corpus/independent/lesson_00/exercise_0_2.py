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

# %% right: builds the columns with zip_longest and transposes
def pad_batch(sequences, pad_id):
    from itertools import zip_longest

    columns = list(zip_longest(*sequences, fillvalue=pad_id))
    return torch.tensor(columns, dtype=torch.int64).T

# %% right: puts all ids in one flat tensor and drops them into the real places through a boolean mask
def pad_batch(sequences, pad_id):
    lengths = torch.tensor([len(s) for s in sequences])
    real = torch.arange(int(lengths.max())) < lengths[:, None]
    out = torch.full(real.shape, pad_id, dtype=torch.int64)
    out[real] = torch.tensor([token for s in sequences for token in s], dtype=torch.int64)
    return out

# %% right: pads each sentence as a tensor of its own with F.pad and stacks them
def pad_batch(sequences, pad_id):
    length = max(map(len, sequences))
    rows = []
    for s in sequences:
        row = torch.tensor(s, dtype=torch.long)
        rows.append(torch.nn.functional.pad(row, (0, length - len(s)), value=pad_id))
    return torch.stack(rows)
