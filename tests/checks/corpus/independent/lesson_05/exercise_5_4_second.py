# %% setup
import torch

# %% wrong: `and` in the place of `or`: only keys that are both past and given are seen
def prefix_mask(prefix, L):
    past = torch.ones(L, L, dtype=torch.bool).tril()
    given = torch.arange(L) < prefix[:, None]
    return past[None, None] & given[:, None, None, :]

# %% wrong: <= in the place of <: the prefix is one token too long
def prefix_mask(prefix, L):
    places = torch.arange(L)
    past = places[None, :] <= places[:, None]
    given = places <= prefix[:, None]
    return past | given[:, None, None, :]

# %% wrong: the longest prefix of the batch is used for every item
def prefix_mask(prefix, L):
    mask = torch.ones(L, L, dtype=torch.bool).tril()
    mask[:, : int(prefix.max())] = True
    return mask.expand(len(prefix), 1, L, L).clone()

# %% wrong: given is put on the axis of the queries: tokens of the prefix see everything, the others only their past
def prefix_mask(prefix, L):
    past = torch.ones(L, L, dtype=torch.bool).tril()
    given = torch.arange(L)[None, :] < prefix[:, None]
    return past | given[:, None, :, None]

# %% wrong: tokens of the prefix see the whole prefix, but the others don't see themselves (strictly below the diagonal)
def prefix_mask(prefix, L):
    places = torch.arange(L)
    past = places[None, :] < places[:, None]
    return past | (places < prefix[:, None])[:, None, None, :]

# %% wrong: the tokens after the prefix don't see the prefix, only their own past after it
def prefix_mask(prefix, L):
    places = torch.arange(L)
    given = places < prefix[:, None]
    both_given = given[:, :, None] & given[:, None, :]
    both_after = ~given[:, :, None] & ~given[:, None, :] & (places[None, :] <= places[:, None])
    return (both_given | both_after).unsqueeze(1)

# %% two mistakes: queries and keys are swapped in the triangle (sees the future, not the past), and the prefix is one too long
def prefix_mask(prefix, L):
    future = torch.ones(L, L, dtype=torch.bool).triu()
    given = torch.arange(L) <= prefix[:, None]
    return future | given[:, None, None, :]

# %% two mistakes: the polarity is turned around (True = hidden), and the axis of the heads is missing
def prefix_mask(prefix, L):
    past = torch.ones(L, L, dtype=torch.bool).tril()
    given = torch.arange(L) < prefix[:, None]
    return ~(past | given[:, None, :])

# %% right: each query sees up to the larger of its own place and the end of the prefix
def prefix_mask(prefix, L):
    places = torch.arange(L, device=prefix.device)
    last_seen = torch.maximum(places, prefix[:, None] - 1)
    return (places <= last_seen[:, :, None])[:, None]

# %% right: a block of ones written into each item's triangle
def prefix_mask(prefix, L):
    items = []
    for p in prefix.tolist():
        item = torch.tril(torch.ones(L, L))
        item[:p, :p] = 1
        items.append(item)
    return torch.stack(items).bool().unsqueeze(1)

# %% right: nothing is hidden but keys that are future and not given (De Morgan), by a comparison of a sum
def prefix_mask(prefix, L):
    ahead = torch.ones(L, L).triu(1)
    free = (torch.arange(L).view(1, 1, 1, L) >= prefix.view(-1, 1, 1, 1)).float()
    return ahead + free < 2
