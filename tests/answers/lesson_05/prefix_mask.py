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

# %% wrong: shape (B, L, L), no axis for the heads
def prefix_mask(prefix, L):
    place = torch.arange(L)
    return (place <= place[:, None]) | (place < prefix[:, None])[:, None]

# %% wrong: everybody sees the prefix alone; the rest is hidden even from itself
def prefix_mask(prefix, L):
    given = torch.arange(L) < prefix[:, None]
    return given[:, None, None, :].expand(-1, 1, L, -1)

# %% two mistakes: the diagonal is left out; and the prefix is one too long
def prefix_mask(prefix, L):
    causal = torch.arange(L)[None, :] < torch.arange(L)[:, None]
    given = torch.arange(L)[None, :] <= prefix[:, None]
    return causal | given[:, None, None, :]

# %% two mistakes: queries and keys are swapped in the triangle (sees the future, not the past), and the prefix is one too long
def prefix_mask(prefix, L):
    future = torch.ones(L, L, dtype=torch.bool).triu()
    given = torch.arange(L) <= prefix[:, None]
    return future | given[:, None, None, :]

# %% right: a key is seen if its place is at most the query's, or the last place of the prefix
def prefix_mask(prefix, L):
    place = torch.arange(L)
    last = torch.maximum(place[None, :], prefix[:, None] - 1)
    return (place[None, None, :] <= last[:, :, None]).unsqueeze(1)

# %% right: each query sees up to the larger of its own place and the end of the prefix
def prefix_mask(prefix, L):
    places = torch.arange(L, device=prefix.device)
    last_seen = torch.maximum(places, prefix[:, None] - 1)
    return (places <= last_seen[:, :, None])[:, None]

# %% right: nothing is hidden but keys that are future and not given (De Morgan), by a comparison of a sum
def prefix_mask(prefix, L):
    ahead = torch.ones(L, L).triu(1)
    free = (torch.arange(L).view(1, 1, 1, L) >= prefix.view(-1, 1, 1, 1)).float()
    return ahead + free < 2
