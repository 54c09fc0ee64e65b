# %% setup
import torch

# %% wrong: the mask is inverted, it is True at the padding
def padding_mask(tokens, pad_id):
    return (tokens == pad_id)[:, None, None, :]

# %% wrong: ignores pad_id and compares with 0
def padding_mask(tokens, pad_id):
    mask = tokens != 0
    return mask.unsqueeze(1).unsqueeze(1)

# %% wrong: takes the padding to be on the right: counts the real tokens and allows that many positions from the left
def padding_mask(tokens, pad_id):
    B, L_k = tokens.shape
    lengths = (tokens != pad_id).sum(dim=1)
    mask = torch.arange(L_k) < lengths[:, None]
    return mask.view(B, 1, 1, L_k)

# %% wrong: allows only token numbers greater than pad_id, so smaller real tokens are hidden when pad_id is not the smallest
def padding_mask(tokens, pad_id):
    return (tokens > pad_id)[:, None, None]

# %% wrong: puts the keys on the axis of the queries, shape (B, 1, L_k, 1)
def padding_mask(tokens, pad_id):
    keep = tokens != pad_id
    return keep.unsqueeze(1).unsqueeze(-1)

# %% wrong: hides everything from the first padding token on, also real tokens that stand after it
def padding_mask(tokens, pad_id):
    is_pad = (tokens == pad_id).long()
    mask = is_pad.cumsum(dim=1) == 0
    return mask[:, None, None, :]

# %% two mistakes: returns numbers 0.0 and 1.0 instead of booleans; and has only one axis between batch and keys, shape (B, 1, L_k)
def padding_mask(tokens, pad_id):
    mask = (tokens != pad_id).float()
    return mask.unsqueeze(1)

# %% right: a list comprehension over the tokens as Python numbers
def padding_mask(tokens, pad_id):
    rows = [[[[token != pad_id for token in row]]] for row in tokens.tolist()]
    return torch.tensor(rows, dtype=torch.bool, device=tokens.device)

# %% right: starts from all True and fills in False at the padding
def padding_mask(tokens, pad_id):
    mask = torch.ones_like(tokens, dtype=torch.bool)
    mask[tokens.eq(pad_id)] = False
    return mask.reshape(tokens.size(0), 1, 1, tokens.size(1))

# %% right: the difference to pad_id made boolean
def padding_mask(tokens, pad_id):
    return (tokens - pad_id).bool().unflatten(0, (-1, 1, 1))
