# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: cuts the columns in an interleaved way, columns 0, 3, 6, ... become the query
def project_qkv(x, W_qkv):
    qkv = x @ W_qkv
    return qkv[..., 0::3], qkv[..., 1::3], qkv[..., 2::3]

# %% wrong: the parts are handed back in the order key, query, value
def project_qkv(x, W_qkv):
    key, query, value = (x @ W_qkv).chunk(3, dim=-1)
    return query, key, value

# %% wrong: cuts the flattened memory of the product into three blocks by reshape(3, B, L, d), which mixes tokens and parts unless B * L is 1
def project_qkv(x, W_qkv):
    B, L, d = x.shape
    qkv = (x @ W_qkv).reshape(3, B, L, d)
    return qkv[0], qkv[1], qkv[2]

# %% wrong: squeezes the results, so that axes of length 1 (a batch of 1, one token) are lost
def project_qkv(x, W_qkv):
    B, L, d = x.shape
    qkv = (x @ W_qkv).reshape(B, L, 3, d)
    query, key, value = qkv.split(1, dim=2)
    return query.squeeze(), key.squeeze(), value.squeeze()

# %% wrong: splits into parts as wide as the sequence is long (x.shape[1]) instead of d
def project_qkv(x, W_qkv):
    d = x.shape[1]
    out = x @ W_qkv
    return out[:, :, :d], out[:, :, d : 2 * d], out[:, :, 2 * d : 3 * d]

# %% wrong: cuts W_qkv into row blocks as if they were stacked below one another, by reshape(3, d, d)
def project_qkv(x, W_qkv):
    d = x.shape[-1]
    W_q, W_k, W_v = W_qkv.reshape(3, d, d)
    return x @ W_q, x @ W_k, x @ W_v

# %% two mistakes: cuts the product along the tokens (axis 1) instead of the columns; and returns the parts in the order value, key, query
def project_qkv(x, W_qkv):
    qkv = x @ W_qkv
    parts = torch.tensor_split(qkv, 3, dim=1)
    return parts[2], parts[1], parts[0]

# %% right: one einsum with the matrix seen as (d, 3, d), unbound into a tuple
def project_qkv(x, W_qkv):
    d = x.shape[-1]
    return torch.einsum("bld,dce->cble", x, W_qkv.unflatten(1, (3, d))).unbind(0)

# %% right: three separate products with narrow slices of the matrix, returned as a list
def project_qkv(x, W_qkv):
    d = W_qkv.shape[0]
    return [x.matmul(W_qkv.narrow(1, part * d, d)) for part in range(3)]

# %% right: a convolution of width 1, split afterwards
def project_qkv(x, W_qkv):
    qkv = F.conv1d(x.transpose(1, 2), W_qkv.T.unsqueeze(-1)).transpose(1, 2)
    query, key, value = torch.split(qkv, x.size(2), dim=2)
    return query.contiguous(), key.contiguous(), value.contiguous()
