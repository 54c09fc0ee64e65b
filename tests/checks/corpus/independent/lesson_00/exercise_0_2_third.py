# %% setup
import torch
from itertools import zip_longest


# %% wrong: fills up with 0 and then replaces every 0 by pad_id, so a real id 0 becomes padding too
def pad_batch(sequences, pad_id):
    length = max(len(s) for s in sequences)
    batch = torch.zeros(len(sequences), length, dtype=torch.long)
    for i, s in enumerate(sequences):
        batch[i, : len(s)] = torch.tensor(s)
    batch[batch == 0] = pad_id
    return batch


# %% wrong: makes the rows by multiplying a list of one row, so all rows are the same list and the ids of later sentences overwrite those of earlier ones
def pad_batch(sequences, pad_id):
    length = max(len(s) for s in sequences)
    rows = [[pad_id] * length] * len(sequences)
    for i, s in enumerate(sequences):
        for j, token in enumerate(s):
            rows[i][j] = token
    return torch.tensor(rows)


# %% wrong: takes len(max(sequences)), the length of the alphabetically last list and not of the longest, so longer sentences are cut off
def pad_batch(sequences, pad_id):
    length = len(max(sequences))
    rows = []
    for s in sequences:
        rows.append([s[j] if j < len(s) else pad_id for j in range(length)])
    return torch.tensor(rows)


# %% wrong: copies only the outer list and appends the pads to the given inner lists, so the arguments are changed
def pad_batch(sequences, pad_id):
    rows = sequences.copy()
    length = max(map(len, rows))
    for row in rows:
        while len(row) < length:
            row.append(pad_id)
    return torch.tensor(rows)


# %% right: zips the sentences into columns with a fill value and zips the columns back into rows
def pad_batch(sequences, pad_id):
    columns = zip_longest(*sequences, fillvalue=pad_id)
    return torch.tensor(list(zip(*columns)), dtype=torch.int64)


# %% right: fills a tensor with pads and writes all ids at once through a mask of positions below the lengths
def pad_batch(sequences, pad_id):
    lengths = torch.tensor([len(s) for s in sequences])
    batch = torch.full((len(sequences), int(lengths.max())), pad_id, dtype=torch.int64)
    batch[torch.arange(batch.shape[1]) < lengths[:, None]] = torch.tensor([token for s in sequences for token in s])
    return batch
