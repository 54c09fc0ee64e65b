# %% setup
import torch


# %% wrong: mends the queries only
def rank_mask(rank, positions, window):
    query = positions[rank].unsqueeze(1)
    key = torch.arange(positions.numel())
    return (query >= key) & (query - key < window)


# %% wrong: mends the keys only
def rank_mask(rank, positions, window):
    P, n = positions.shape
    query = torch.arange(rank * n, (rank + 1) * n)[:, None]
    distance = query - positions.reshape(-1)
    return (distance >= 0) & (distance < window)


# %% wrong: forgets the window
def rank_mask(rank, positions, window):
    return positions[rank][:, None] >= positions.flatten()


# %% wrong: sorts the keys
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten().sort().values
    return (distance >= 0) & (distance < window)


# %% two mistakes: the window is one too long; and later tokens are seen too
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten()
    return distance.abs() <= window


# %% right: two loops
def rank_mask(rank, positions, window):
    keys = [key for block in positions.tolist() for key in block]
    rows = [[query - window < key <= query for key in keys] for query in positions[rank].tolist()]
    return torch.tensor(rows)


# %% right: rows and columns of a band over the whole text
def rank_mask(rank, positions, window):
    L = positions.numel()
    band = torch.ones(L, L, dtype=torch.bool).tril().triu(1 - window)
    return band[positions[rank]][:, positions.flatten()]


# %% setup
import math
import itertools
import functools
import torch
import torch.nn.functional as F


# %% wrong: only the keys are repaired
def rank_mask(rank, positions, window):
    P, n = positions.shape
    query = torch.arange(rank * n, (rank + 1) * n)[:, None]
    distance = query - positions.flatten()
    return (distance >= 0) & (distance < window)


# %% wrong: only the queries are repaired
def rank_mask(rank, positions, window):
    P, n = positions.shape
    query = positions[rank][:, None]
    key = torch.arange(P * n)
    distance = query - key
    return (distance >= 0) & (distance < window)


# %% wrong: the window is one too wide
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten()
    return (distance >= 0) & (distance <= window)


# %% wrong: the window reaches to both sides
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten()
    return distance.abs() < window


# %% wrong: the future isn't hidden, only the far side of the window is
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten()
    return distance < window


# %% wrong: a query doesn't see itself
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten()
    return (distance > 0) & (distance < window)


# %% wrong: the keys are gathered token by token instead of rank by rank
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.T.flatten()
    return (distance >= 0) & (distance < window)


# %% right: membership in a range, by nested lists
def rank_mask(rank, positions, window):
    order = [p for row in positions.tolist() for p in row]
    return torch.tensor([[k in range(q - window + 1, q + 1) for k in order] for q in positions[rank].tolist()])


# %% right: a band over the whole text, rows and columns picked out of it
def rank_mask(rank, positions, window):
    size = int(positions.max()) + 1
    ones = torch.ones(size, size, dtype=torch.bool)
    band = ones.tril() & ones.triu(1 - window)
    return torch.cat([band[positions[rank]][:, keys] for keys in positions], dim=1)
