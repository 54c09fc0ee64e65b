# %% setup
import torch

# %% wrong: the filling stands at the front of the shorter sentences instead of at the end
def pad_batch(sequences, pad_id):
    longest = max(len(s) for s in sequences)
    return torch.tensor([[pad_id] * (longest - len(s)) + list(s) for s in sequences])

# %% wrong: the longest sequence is sought with max(sequences), which compares the ids and not the lengths, so L can be too small (error or no common length)
def pad_batch(sequences, pad_id):
    longest = len(max(sequences))
    return torch.tensor([list(s) + [pad_id] * (longest - len(s)) for s in sequences])

# %% wrong: the pad ids are appended to the given lists themselves, so the caller's lists are changed
def pad_batch(sequences, pad_id):
    longest = max(len(s) for s in sequences)
    for s in sequences:
        while len(s) < longest:
            s.append(pad_id)
    return torch.tensor(sequences)

# %% wrong: the table is made by torch.ones without a dtype, so the result is float32 instead of int64
def pad_batch(sequences, pad_id):
    longest = max(len(s) for s in sequences)
    batch = torch.ones(len(sequences), longest) * pad_id
    for b, s in enumerate(sequences):
        batch[b, :len(s)] = torch.tensor(s)
    return batch

# %% right: zip_longest gives the columns, which are then transposed
def pad_batch(sequences, pad_id):
    from itertools import zip_longest
    columns = list(zip_longest(*sequences, fillvalue=pad_id))
    return torch.tensor(columns, dtype=torch.int64).t().contiguous()

# %% right: all ids are poured through a boolean mask into a full tensor
def pad_batch(sequences, pad_id):
    lengths = torch.tensor([len(s) for s in sequences])
    flat = torch.tensor([i for s in sequences for i in s], dtype=torch.long)
    batch = torch.full((len(sequences), int(lengths.max())), pad_id, dtype=torch.long)
    real = torch.arange(batch.shape[1]) < lengths[:, None]
    batch[real] = flat
    return batch
