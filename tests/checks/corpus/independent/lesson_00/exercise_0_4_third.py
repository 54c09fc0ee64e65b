# %% setup
import torch


# %% wrong: sets the vectors of id 0 to zero as if it were padding
def embed(table, ids):
    vectors = table[ids]
    vectors[ids == 0] = 0
    return vectors


# %% wrong: looks up the flat ids and views the rows as (L, B, d) before swapping, so with more than one sentence the tokens change places
def embed(table, ids):
    B, L = ids.shape
    rows = table[ids.flatten()]
    return rows.view(L, B, table.shape[1]).transpose(0, 1)


# %% wrong: fills every sentence with the rows of the ids of sentence 0
def embed(table, ids):
    B, L = ids.shape
    out = torch.zeros(B, L, table.shape[1])
    for i in range(L):
        out[:, i] = table[ids[0, i]]
    return out


# %% wrong: indexes the columns of the transposed table and moves only the batch forward, so it gives (B, d, L)
def embed(table, ids):
    return table.T[:, ids].permute(1, 0, 2)


# %% two mistakes: counts the rows of the table from 1, so id 0 takes the last row; and gives the positions first, (L, B, d)
def embed(table, ids):
    return table[ids - 1].transpose(0, 1)


# %% right: takes the numbers out of the flat table at id * d + column
def embed(table, ids):
    d = table.shape[1]
    return table.take(ids[..., None] * d + torch.arange(d))


# %% right: gathers along the rows with the flat ids repeated over the columns
def embed(table, ids):
    d = table.shape[1]
    places = ids.reshape(-1, 1).expand(-1, d)
    return torch.gather(table, 0, places).reshape(*ids.shape, d)
