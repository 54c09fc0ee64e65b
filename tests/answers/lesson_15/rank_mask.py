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


# %% setup
import torch

# %% wrong: positions for the queries alone, keys still by their place
def rank_mask(rank, positions, window):
    P, n = positions.shape
    distance = positions[rank][:, None] - torch.arange(P * n)
    return (distance >= 0) & (distance < window)

# %% wrong: positions for the keys alone
def rank_mask(rank, positions, window):
    P, n = positions.shape
    query = torch.arange(rank * n, (rank + 1) * n)[:, None]
    distance = query - positions.flatten()
    return (distance >= 0) & (distance < window)

# %% wrong: a window of window + 1 tokens
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten()
    return (distance >= 0) & (distance <= window)

# %% wrong: a query doesn't see itself
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten()
    return (distance > 0) & (distance < window)

# %% wrong: to both sides, absolute distance
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten()
    return distance.abs() < window

# %% wrong: keys in the order of the text (sorted) and not as gathered
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten().sort().values
    return (distance >= 0) & (distance < window)

# %% wrong: keys token by token over the ranks, positions transposed before flattening
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.T.flatten()
    return (distance >= 0) & (distance < window)

# %% wrong: keys in the order in which a ring brings them, the rank's own first
def rank_mask(rank, positions, window):
    keys = torch.cat([positions[(rank - s) % len(positions)] for s in range(len(positions))])
    distance = positions[rank][:, None] - keys
    return (distance >= 0) & (distance < window)

# %% wrong: negative distance, the window lies after the query
def rank_mask(rank, positions, window):
    distance = positions.flatten() - positions[rank][:, None]
    return (distance >= 0) & (distance < window)

# %% wrong: keys in rows, queries in columns, (P * n, n)
def rank_mask(rank, positions, window):
    distance = positions[rank] - positions.flatten()[:, None]
    return (distance >= 0) & (distance < window)

# %% wrong: numbers 0 and 1 instead of booleans
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten()
    return ((distance >= 0) & (distance < window)).int()

# %% wrong: the inverse order instead of the positions, right where it is its own inverse
def rank_mask(rank, positions, window):
    P, n = positions.shape
    place = positions.flatten().argsort()
    distance = place.view(P, n)[rank][:, None] - place
    return (distance >= 0) & (distance < window)

# %% wrong: sees all tokens of the window that are in the rank's order before it, the last `window` visible keys, by sorting place (causal by position, window by place)
def rank_mask(rank, positions, window):
    P, n = positions.shape
    key = positions.flatten()
    query = positions[rank][:, None]
    place = torch.arange(P * n)
    mine = torch.arange(rank * n, (rank + 1) * n)[:, None]
    return (key <= query) & ((mine - place).abs() < window)

# %% wrong: causal only, window forgotten
def rank_mask(rank, positions, window):
    return positions[rank][:, None] >= positions.flatten()

# %% wrong: column rank of positions instead of the row
def rank_mask(rank, positions, window):
    distance = positions[:, rank][:, None] - positions.flatten()
    return (distance >= 0) & (distance < window)

# %% wrong: sorts the rank's queries first
def rank_mask(rank, positions, window):
    distance = positions[rank].sort().values[:, None] - positions.flatten()
    return (distance >= 0) & (distance < window)

# %% wrong: works on the mask of the text, takes the rank's rows but leaves columns in order of the text
def rank_mask(rank, positions, window):
    L = positions.numel()
    band = torch.ones(L, L, dtype=torch.bool).tril().triu(1 - window)
    return band[positions[rank]]

# %% wrong: window from the tril/triu of the text, off by one (triu(-window))
def rank_mask(rank, positions, window):
    L = positions.numel()
    band = torch.ones(L, L, dtype=torch.bool).tril().triu(-window)
    return band[positions[rank]][:, positions.flatten()]

# %% wrong: a mask for each rank's keys of shape (n, P, n)
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None, None] - positions
    return (distance >= 0) & (distance < window)

# %% wrong: only the keys of the own rank, (n, n)
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions[rank]
    return (distance >= 0) & (distance < window)

# %% wrong: adds the rank's offset to the positions as well
def rank_mask(rank, positions, window):
    P, n = positions.shape
    query = rank * n + positions[rank][:, None]
    distance = query - positions.flatten()
    return (distance >= 0) & (distance < window)

# %% wrong: distances as int8, which wrap for texts of more than 128 tokens
def rank_mask(rank, positions, window):
    p = positions.to(torch.int8)
    distance = p[rank][:, None] - p.flatten()
    return (distance >= 0) & (distance < window)

# %% wrong: leaves out the position 0 (a truth value of the position)
def rank_mask(rank, positions, window):
    key = positions.flatten()
    query = positions[rank][:, None]
    low = (query - window + 1).clamp(min=1)
    return (key >= low) & (key <= query)

# %% wrong: reorders the caller's positions in place
def rank_mask(rank, positions, window):
    query = positions[rank][:, None].clone()
    keys = positions.view(-1)
    distance = keys.sub_(query[0]).neg_() + (query - query[0])
    return (distance >= 0) & (distance < window)

# %% two mistakes: keys by place, and window + 1 tokens
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - torch.arange(positions.numel())
    return (distance >= 0) & (distance <= window)

# %% two mistakes: a query doesn't see itself, keys sorted
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - torch.arange(positions.numel())
    return (distance > 0) & (distance < window)

# %% right: distances of positions
def rank_mask(rank, positions, window):
    distance = positions[rank][:, None] - positions.flatten()
    return (distance >= 0) & (distance < window)

# %% right: rows and columns of the band of the whole text
def rank_mask(rank, positions, window):
    L = int(positions.max()) + 1
    band = torch.ones(L, L, dtype=torch.bool).tril().triu(1 - window)
    return band[positions[rank]][:, positions.reshape(-1)]

# %% right: two Python loops
def rank_mask(rank, positions, window):
    rows = []
    for q in positions[rank].tolist():
        rows.append([q - window < k <= q for block in positions.tolist() for k in block])
    return torch.tensor(rows)

# %% right: isin of the positions that a query sees
def rank_mask(rank, positions, window):
    mask = torch.zeros(positions.shape[1], positions.numel(), dtype=torch.bool)
    for i, q in enumerate(positions[rank]):
        mask[i] = torch.isin(positions.flatten(), q - torch.arange(window))
    return mask

# %% right: block by block, concatenated over the ranks
def rank_mask(rank, positions, window):
    q = positions[rank].unsqueeze(-1)
    blocks = [torch.logical_and(k.le(q), k.gt(q - window)) for k in positions.unbind(0)]
    return torch.cat(blocks, dim=-1)

# %% right: scatters ones into the text and reads them in gathered order
def rank_mask(rank, positions, window):
    n, L = positions.shape[1], positions.numel()
    seen = torch.zeros(n, L + window, dtype=torch.bool)
    back = positions[rank][:, None] - torch.arange(window)
    seen.scatter_(1, torch.where(back < 0, L + window - 1, back), True)
    seen[:, L:] = False
    return seen.gather(1, positions.flatten().expand(n, L))


# %% setup
import torch

# %% wrong: window counted in tokens that the query sees by rank: last `window` keys among those gathered, by topk over place
def rank_mask(rank, positions, window):
    key, query = positions.flatten(), positions[rank][:, None]
    seen = key <= query
    later = seen.flip(1).cumsum(1).flip(1)
    return seen & (later <= window)

# %% right: counts: the last `window` keys by position, by double argsort
def rank_mask(rank, positions, window):
    key, query = positions.flatten(), positions[rank][:, None]
    order = key.argsort(descending=True)
    seen = (key <= query)[:, order]
    kept = seen & (seen.cumsum(1) <= window)
    return kept[:, order.argsort()]

# %% wrong: modulo: distance % L < window, so the window wraps round the text
def rank_mask(rank, positions, window):
    L = positions.numel()
    return (positions[rank][:, None] - positions.flatten()) % L < window

# %% wrong: a diagonal band by triu/tril on the local block shape (n, P n) after sorting positions
def rank_mask(rank, positions, window):
    P, n = positions.shape
    return torch.ones(n, P * n, dtype=torch.bool).tril(rank * n).triu(rank * n + 1 - window)[:, positions.flatten()]

# %% wrong: starts the window at 0 whatever the query if window exceeds its position + 1 ... keys >= query - window
def rank_mask(rank, positions, window):
    key, query = positions.flatten(), positions[rank][:, None]
    low = query - window
    return (key <= query) & (key >= low.clamp(min=0))
