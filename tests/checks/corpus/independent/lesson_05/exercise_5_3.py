# %% setup
import torch

# %% wrong: forgets that tokens of padding share the number 0, so padding sees padding
def packed(document):
    L = document.shape[1]
    same = document.unsqueeze(2) == document.unsqueeze(1)
    mask = same & torch.ones(L, L, dtype=torch.bool).tril()
    positions = torch.where(document > 0, mask.sum(-1) - 1, 0)
    return mask.unsqueeze(1), positions

# %% wrong: tokens see the whole of their own document, later tokens too
def packed(document):
    same = document[:, :, None] == document[:, None, :]
    mask = same & (document != 0)[:, None, :]
    before = torch.ones(document.shape[1], document.shape[1]).tril(-1).bool()
    return mask[:, None], (mask & before).sum(-1)

# %% wrong: the positions are those in the row, not in the document
def packed(document):
    B, L = document.shape
    mask = torch.zeros(B, 1, L, L, dtype=torch.bool)
    positions = torch.zeros(B, L, dtype=torch.int64)
    for b in range(B):
        for i in range(L):
            if document[b, i] != 0:
                positions[b, i] = i
            for j in range(i + 1):
                mask[b, 0, i, j] = document[b, i] == document[b, j] and document[b, j] != 0
    return mask, positions

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

# %% wrong: the mask has no axis for the heads
def packed(document):
    L = document.shape[1]
    mask = (document[:, :, None] == document[:, None, :]) & (document != 0)[:, None, :]
    mask = mask & torch.tril(torch.ones(L, L, dtype=torch.bool))
    return mask, (mask.sum(-1) - 1).clamp_min(0)

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

# %% right: three loops, and a counter that starts anew with each document
def packed(document):
    B, L = document.shape
    mask, positions = torch.zeros(B, 1, L, L, dtype=torch.bool), torch.zeros(B, L, dtype=torch.long)
    for b in range(B):
        start = 0
        for i in range(L):
            if i == 0 or document[b, i] != document[b, i - 1]:
                start = i
            if document[b, i] != 0:
                mask[b, 0, i, start : i + 1] = True
                positions[b, i] = i - start
    return mask, positions

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

# %% right: a product of one-hot vectors says who is in whose document
def packed(document):
    one_hot = torch.nn.functional.one_hot(document)[..., 1:].float()
    mask = torch.tril(one_hot @ one_hot.mT) > 0
    return mask[:, None], (one_hot.cumsum(1) * one_hot).sum(-1).sub(1).clamp(min=0).long()
