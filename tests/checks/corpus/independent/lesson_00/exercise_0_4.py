# %% setup
import torch

# %% wrong: counts the rows from 1, so each id gets the row before its own (and id 0 the last row)
def embed(table, ids):
    return table[ids - 1]

# %% wrong: makes a one-hot code without saying how many classes there are, so it fails whenever the largest id V-1 does not occur
def embed(table, ids):
    one_hot = torch.nn.functional.one_hot(ids).to(table.dtype)
    return one_hot @ table

# %% wrong: returns the axes in the order (B, d, L) instead of (B, L, d)
def embed(table, ids):
    return table[ids].transpose(1, 2)

# %% wrong: sets the vectors of id 0 to zero, as if 0 were padding, instead of giving row 0 of the table
def embed(table, ids):
    vectors = table[ids]
    return torch.where((ids == 0).unsqueeze(-1), torch.zeros_like(vectors), vectors)

# %% wrong: torch.take reads single numbers from the flattened table, so the result is (B, L) with one number for each id and no vectors
def embed(table, ids):
    return torch.take(table, ids)

# %% wrong: loops over B positions in each sentence instead of L, so it is right only when L equals B
def embed(table, ids):
    batch = ids.shape[0]
    rows = []
    for b in range(batch):
        rows.append(torch.stack([table[ids[b, i]] for i in range(batch)]))
    return torch.stack(rows)

# %% two mistakes: multiplies the vectors by the square root of d; and returns the axes in the order (B, d, L)
def embed(table, ids):
    d = table.shape[1]
    vectors = table[ids] * d ** 0.5
    return vectors.permute(0, 2, 1)

# %% right: flattens the ids, uses index_select and restores the shape
def embed(table, ids):
    flat = torch.index_select(table, 0, ids.reshape(-1))
    return flat.view(*ids.shape, table.shape[1])

# %% right: collects the rows one by one in Python loops and stacks them
def embed(table, ids):
    rows = table.unbind(0)
    return torch.stack([torch.stack([rows[i] for i in sentence]) for sentence in ids.tolist()])

# %% right: uses gather on the table repeated for the batch
def embed(table, ids):
    B, L = ids.shape
    V, d = table.shape
    index = ids.long().unsqueeze(-1).expand(B, L, d)
    return table.expand(B, V, d).gather(1, index)
