# %% setup
import torch
import torch.nn.functional as F

# %% wrong: the padding is not treated apart: tokens of padding see one another, and their positions count up
def packed(document):
    L = document.shape[1]
    same = document[:, :, None] == document[:, None, :]
    mask = (same & torch.ones(L, L, dtype=torch.bool).tril()).unsqueeze(1)
    return mask, mask[:, 0].sum(dim=-1) - 1

# %% wrong: hides padding as a key and as a query, but its position becomes -1 (the number of seen keys minus 1)
def packed(document):
    L = document.shape[1]
    same = document[:, :, None] == document[:, None, :]
    real = (document != 0)[:, None, :]
    mask = same & real & torch.ones(L, L, dtype=torch.bool).tril()
    return mask[:, None], mask.sum(dim=-1) - 1

# %% wrong: a token sees the whole of its document, later tokens too (no causal part); positions are right
def packed(document):
    L = document.shape[1]
    real = document != 0
    same = (document[:, :, None] == document[:, None, :]) & real[:, None]
    past = torch.ones(L, L, dtype=torch.bool).tril()
    positions = ((same & past).sum(-1) - 1).clamp(min=0)
    return same[:, None], positions

# %% wrong: compares with >=, which takes the numbers of the documents to be rising: a token also sees documents with a smaller number before it
def packed(document):
    L = document.shape[1]
    same = document[:, :, None] >= document[:, None, :]
    real = (document != 0)
    mask = same & torch.ones(L, L, dtype=torch.bool).tril() & real[:, None, :] & real[:, :, None]
    own = (document[:, :, None] == document[:, None, :]) & torch.ones(L, L, dtype=torch.bool).tril() & real[:, None]
    return mask[:, None], (own.sum(-1) - 1).clamp(min=0)

# %% wrong: positions are places in the row, not in the document
def packed(document):
    B, L = document.shape
    same = document[:, :, None] == document[:, None, :]
    past = torch.ones(L, L, dtype=torch.bool).tril()
    mask = same & past & (document != 0)[:, None, :]
    positions = torch.arange(L).expand(B, L) * (document != 0)
    return mask.unsqueeze(1), positions

# %% wrong: where each document starts is read off the first row of the batch and used for all rows
def packed(document):
    B, L = document.shape
    same = document[:, :, None] == document[:, None, :]
    past = torch.ones(L, L, dtype=torch.bool).tril()
    mask = same & past & (document != 0)[:, None, :]
    positions = torch.zeros(B, L, dtype=torch.int64)
    start = 0
    for i in range(L):
        if i > 0 and document[0, i] != document[0, i - 1]:
            start = i
        positions[:, i] = i - start
    return mask.unsqueeze(1), positions * (document != 0)

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

# %% right: starts of documents by cummax, no table for the positions
def packed(document):
    B, L = document.shape
    place = torch.arange(L, device=document.device)
    before = F.pad(document, (1, 0), value=-1)[:, :-1]
    start = torch.where(document != before, place, 0).cummax(dim=1).values
    real = document != 0
    positions = (place - start).masked_fill(~real, 0)
    mask = (place[None, None, :] >= start[:, :, None]) & (place[None, None, :] <= place[None, :, None]) & real[:, :, None]
    return mask.unsqueeze(1), positions

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

# %% wrong: a loop that counts on while the number stays the same, so padding gets positions as if it were a document
def packed(document):
    B, L = document.shape
    places = torch.arange(L)
    same = document[:, :, None] == document[:, None, :]
    mask = same & (document != 0)[:, None, :] & (places <= places[:, None])
    positions = torch.zeros(B, L, dtype=torch.long)
    for b in range(B):
        for t in range(1, L):
            if document[b, t] == document[b, t - 1]:
                positions[b, t] = positions[b, t - 1] + 1
    return mask[:, None], positions
