# %% setup
import torch

# %% wrong: the two rules are joined by and
def prefix_mask(prefix, L):
    causal = torch.ones(L, L, dtype=torch.bool).tril()
    given = torch.arange(L)[None, :] < prefix[:, None]
    return causal[None, None] & given[:, None, None, :]

# %% wrong: the prefix is counted with <=, so it is one token too long
def prefix_mask(prefix, L):
    causal = torch.ones(L, L, dtype=torch.bool).tril()
    given = torch.arange(L) <= prefix.unsqueeze(1)
    return causal | given[:, None, None]

# %% wrong: opens the rows of the prefix instead of its columns
def prefix_mask(prefix, L):
    causal = torch.ones(L, L, dtype=torch.bool).tril()
    given = torch.arange(L) < prefix.unsqueeze(1)
    return causal | given[:, None, :, None]

# %% wrong: the prefix of the first item for all
def prefix_mask(prefix, L):
    mask = torch.ones(L, L).tril().bool()
    mask[:, : int(prefix[0])] = True
    return mask[None, None].repeat(len(prefix), 1, 1, 1)

# %% wrong: no axis for the heads
def prefix_mask(prefix, L):
    rows = []
    for p in prefix.tolist():
        mask = torch.ones(L, L).tril().bool()
        mask[:p, :p] = True
        rows.append(mask)
    return torch.stack(rows)

# %% wrong: everybody sees the prefix alone; the rest is hidden even from itself
def prefix_mask(prefix, L):
    given = torch.arange(L) < prefix[:, None]
    return given[:, None, None, :].expand(-1, 1, L, -1)

# %% two mistakes: the diagonal is left out; and the prefix is one too long
def prefix_mask(prefix, L):
    causal = torch.arange(L)[None, :] < torch.arange(L)[:, None]
    given = torch.arange(L)[None, :] <= prefix[:, None]
    return causal | given[:, None, None, :]

# %% two mistakes: numbers instead of booleans; and the rows of the prefix are opened
def prefix_mask(prefix, L):
    mask = torch.ones(len(prefix), 1, L, L).tril()
    for b, p in enumerate(prefix):
        mask[b, 0, :p] = 1
    return mask

# %% right: one item at a time, with a square of ones in the corner
def prefix_mask(prefix, L):
    mask = torch.ones(len(prefix), 1, L, L).tril()
    for b, p in enumerate(prefix):
        mask[b, 0, :p, :p] = 1
    return mask.bool()

# %% right: a key is seen if its place is at most the query's, or the last place of the prefix
def prefix_mask(prefix, L):
    place = torch.arange(L)
    last = torch.maximum(place[None, :], prefix[:, None] - 1)
    return (place[None, None, :] <= last[:, :, None]).unsqueeze(1)

# %% right: hidden is what is neither past nor given
def prefix_mask(prefix, L):
    future = torch.ones(L, L, dtype=torch.bool).triu(1)
    predicted = torch.arange(L).ge(prefix.view(-1, 1, 1, 1))
    return ~(future & predicted)
