# %% setup
import torch

# %% wrong: the mask is inverted, it is True at the padding
def padding_mask(tokens, pad_id):
    return (tokens == pad_id)[:, None, None, :]

# %% wrong: ignores pad_id and compares with 0
def padding_mask(tokens, pad_id):
    mask = tokens != 0
    return mask.unsqueeze(1).unsqueeze(1)

# %% wrong: allows only token numbers greater than pad_id, so smaller real tokens are hidden when pad_id is not the smallest
def padding_mask(tokens, pad_id):
    return (tokens > pad_id)[:, None, None]

# %% two mistakes: returns numbers 0.0 and 1.0 instead of booleans; and has only one axis between batch and keys, shape (B, 1, L_k)
def padding_mask(tokens, pad_id):
    mask = (tokens != pad_id).float()
    return mask.unsqueeze(1)

# %% wrong: gives the mask the shape (1, 1, B, L_k), so the batch stands where the queries belong (right only for one item)
def padding_mask(tokens, pad_id):
    return (tokens != pad_id).view(1, 1, -1, tokens.shape[-1])

# %% wrong: subtracts pad_id from the tokens in place, so the mask is right but the caller's tokens are changed
def padding_mask(tokens, pad_id):
    tokens -= pad_id
    return tokens.bool().unsqueeze(1).unsqueeze(2)

# %% two mistakes: is True at the padding; and puts the tokens on the axis of the queries
def padding_mask(tokens, pad_id):
    return (tokens == pad_id)[:, None, :, None]

# %% wrong: shape (B, L_k), without the axes for heads and queries
def padding_mask(tokens, pad_id):
    return tokens != pad_id

# %% right: starts from all True and fills in False at the padding
def padding_mask(tokens, pad_id):
    mask = torch.ones_like(tokens, dtype=torch.bool)
    mask[tokens.eq(pad_id)] = False
    return mask.reshape(tokens.size(0), 1, 1, tokens.size(1))

# %% right: the difference to pad_id made boolean
def padding_mask(tokens, pad_id):
    return (tokens - pad_id).bool().unflatten(0, (-1, 1, 1))

# %% right: isin, inverted, then a view
def padding_mask(tokens, pad_id):
    real = torch.isin(tokens, torch.tensor([pad_id]), invert=True)
    return real.reshape(len(tokens), 1, 1, -1)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% two mistakes: always takes 0 as the padding id; and marks the padding instead of the real tokens with True
def padding_mask(tokens, pad_id):
    return (tokens == 0)[:, None, None, :]
