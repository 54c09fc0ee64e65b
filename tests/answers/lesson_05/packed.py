# %% setup
import torch

# %% wrong: tokens see the whole of their own document, later tokens too
def packed(document):
    same = document[:, :, None] == document[:, None, :]
    mask = same & (document != 0)[:, None, :]
    before = torch.ones(document.shape[1], document.shape[1]).tril(-1).bool()
    return mask[:, None], (mask & before).sum(-1)

# %% wrong: positions in the row, not in the document
def packed(document):
    L = document.shape[1]
    same = document[:, :, None] == document[:, None, :]
    mask = same & torch.ones(L, L, dtype=torch.bool).tril() & (document != 0)[:, None, :]
    return mask[:, None], torch.arange(L).expand_as(document) * (document != 0)

# %% wrong: compares with >=, as if documents were numbered in rising order
def packed(document):
    L = document.shape[1]
    causal = torch.arange(L)[None, :] <= torch.arange(L)[:, None]
    mask = (document[:, :, None] >= document[:, None, :]) & causal & (document[:, None, :] > 0)
    same = (document[:, :, None] == document[:, None, :]) & causal & (document[:, None, :] > 0)
    return mask[:, None], (same.sum(-1) - 1).clamp(min=0)

# %% wrong: positions begin at 1
def packed(document):
    L = document.shape[1]
    mask = (document[:, None, :, None] == document[:, None, None, :]) & (document != 0)[:, None, None, :]
    mask = mask & torch.tril(torch.ones(L, L, dtype=torch.bool))
    return mask, mask.sum(-1)[:, 0]

# %% two mistakes: padding sees padding; and padding is given position -1
def packed(document):
    L = document.shape[1]
    mask = (document[:, None, :, None] == document[:, None, None, :]) & torch.ones(L, L).tril().bool()
    positions = mask[:, 0].sum(-1) - 1
    return mask, positions.masked_fill(document == 0, -1)

# %% two mistakes: the diagonal is left out; and the positions count through the row
def packed(document):
    B, L = document.shape
    mask = (document[:, :, None] == document[:, None, :]) & (document != 0)[:, None, :]
    mask = mask & torch.ones(L, L).tril(-1).bool()
    return mask[:, None], torch.arange(L).expand(B, L) * (document != 0)

# %% right: the place at which each document starts, from a running maximum
def packed(document):
    B, L = document.shape
    places = torch.arange(L).expand(B, L)
    new = torch.cat([torch.ones(B, 1, dtype=torch.bool), document[:, 1:] != document[:, :-1]], dim=1)
    start = torch.where(new, places, torch.zeros_like(places)).cummax(dim=1).values
    real = document.ne(0)
    key = torch.arange(L)
    mask = (key >= start[..., None]) & (key <= places[..., None]) & real[..., None]
    return mask[:, None], (places - start) * real

# %% setup
import torch
import torch.nn.functional as F

# %% two mistakes: the position counts the token itself (starts at 1), and the axis of the heads is missing
def packed(document):
    L = document.shape[1]
    same = document[:, :, None] == document[:, None, :]
    mask = same & torch.ones(L, L, dtype=torch.bool).tril() & (document != 0)[:, None, :]
    return mask, mask.sum(dim=-1)

# %% two mistakes: queries and keys are swapped (upper triangle, sees its future), and padding sees padding
def packed(document):
    L = document.shape[1]
    same = document[:, :, None] == document[:, None, :]
    mask = same & torch.ones(L, L, dtype=torch.bool).triu()
    positions = ((same & torch.ones(L, L, dtype=torch.bool).tril()).sum(-1) - 1) * (document != 0)
    return mask[:, None], positions

# %% right: plain loops over Python lists
def packed(document):
    masks, positions = [], []
    for row in document.tolist():
        masks.append([[[q == k and q != 0 and j <= i for j, k in enumerate(row)] for i, q in enumerate(row)]])
        positions.append([row[:i].count(q) if q else 0 for i, q in enumerate(row)])
    return torch.tensor(masks), torch.tensor(positions)

# %% right: one-hot documents, whose inner products say "same", and a cumulative sum for the positions
def packed(document):
    hot = F.one_hot(document)[..., 1:].float()
    mask = (hot @ hot.transpose(1, 2)).tril() > 0.5
    positions = ((hot.cumsum(1) * hot).sum(-1) - hot.sum(-1)).long()
    return mask[:, None], positions
