# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: everything from the first padding token on is hidden, so real tokens to the right of padding are lost
def padding_mask(tokens, pad_id):
    real = (tokens != pad_id).long().cumprod(dim=-1).bool()
    return real[:, None, None, :]

# %% wrong: takes tokens with an id above pad_id as real, so real tokens with a smaller id are hidden
def padding_mask(tokens, pad_id):
    return (tokens > pad_id).unsqueeze(1).unsqueeze(2)

# %% wrong: the token axis is put at the place of the queries, shape (B, 1, L, 1)
def padding_mask(tokens, pad_id):
    keep = tokens != pad_id
    return keep.unsqueeze(1).unsqueeze(-1)

# %% wrong: overwrites the padding in tokens with 0 and real tokens with 1, so the argument is changed
def padding_mask(tokens, pad_id):
    pad = tokens == pad_id
    tokens[pad] = 0
    tokens[~pad] = 1
    return tokens.bool()[:, None, None]

# %% two mistakes: always takes 0 as the padding id; and marks the padding instead of the real tokens with True
def padding_mask(tokens, pad_id):
    return (tokens == 0)[:, None, None, :]

# %% right: plain Python lists, token by token
def padding_mask(tokens, pad_id):
    rows = [[[[token != pad_id for token in row]]] for row in tokens.tolist()]
    return torch.tensor(rows, dtype=torch.bool, device=tokens.device)

# %% right: fills a tensor of ones with False at the padding, then reshapes
def padding_mask(tokens, pad_id):
    B, L_k = tokens.shape
    mask = torch.ones_like(tokens, dtype=torch.bool).masked_fill(tokens.eq(pad_id), False)
    return mask.reshape(B, 1, 1, L_k)
