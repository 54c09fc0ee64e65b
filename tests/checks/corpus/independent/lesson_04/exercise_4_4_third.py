# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: splits into parts of size 3 instead of 3 parts, which is right only if d is 3
def project_qkv(x, W_qkv):
    return (x @ W_qkv).split(3, dim=-1)


# %% wrong: reshapes the wide matrix to (3, d, d), so each of the three matrices is made of whole rows and not of columns (right only if d is 1)
def project_qkv(x, W_qkv):
    d = x.shape[-1]
    W_q, W_k, W_v = W_qkv.reshape(3, d, d)
    return x @ W_q, x @ W_k, x @ W_v


# %% wrong: puts the matrix into the data of a new nn.Linear, so the numbers are right but no gradient reaches W_qkv
def project_qkv(x, W_qkv):
    d = x.shape[-1]
    layer = nn.Linear(d, 3 * d, bias=False)
    layer.weight.data = W_qkv.T
    query, key, value = layer(x).chunk(3, dim=-1)
    return query, key, value


# %% wrong: hands back one tensor of shape (3, B, L, d) instead of three tensors in a tuple or list
def project_qkv(x, W_qkv):
    B, L, d = x.shape
    return (x @ W_qkv).reshape(B, L, 3, d).permute(2, 0, 1, 3)


# %% two mistakes: takes every third column instead of columns side by side; and swaps key and value
def project_qkv(x, W_qkv):
    product = x @ W_qkv
    return product[..., 0::3], product[..., 2::3], product[..., 1::3]


# %% right: cuts the matrix instead of the product and sums over the features with three einsums
def project_qkv(x, W_qkv):
    return [torch.einsum("bld,dn->bln", x, part) for part in torch.tensor_split(W_qkv, 3, dim=1)]


# %% right: adds up the outer products of every feature with its row of the matrix in a loop, then picks the columns with narrow
def project_qkv(x, W_qkv):
    d = x.size(2)
    product = sum(x[:, :, i, None] * W_qkv[i] for i in range(d))
    return tuple(product.narrow(-1, start, d) for start in (0, d, 2 * d))
