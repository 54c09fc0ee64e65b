# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: takes the columns in turns (every third column to the query) instead of in three blocks
def project_qkv(x, W_qkv):
    qkv = x @ W_qkv
    return qkv[..., 0::3], qkv[..., 1::3], qkv[..., 2::3]

# %% wrong: views the product as (3, B, L, d), which mixes tokens and parts unless there is one token in all
def project_qkv(x, W_qkv):
    B, L, d = x.shape
    qkv = (x @ W_qkv).reshape(3, B, L, d)
    return qkv[0], qkv[1], qkv[2]

# %% wrong: returns the three parts stacked to one tensor (3, B, L, d)
def project_qkv(x, W_qkv):
    B, L, d = x.shape
    return (x @ W_qkv).reshape(B, L, 3, d).permute(2, 0, 1, 3)

# %% wrong: squeezes the results, so an axis of size 1 (one item, one token or d = 1) is lost
def project_qkv(x, W_qkv):
    q, k, v = torch.chunk(x @ W_qkv, 3, dim=-1)
    return q.squeeze(), k.squeeze(), v.squeeze()

# %% two mistakes: hands the parts back in the order query, value, key; and detaches them so that no gradient flows
def project_qkv(x, W_qkv):
    d = x.shape[-1]
    with torch.no_grad():
        qkv = x @ W_qkv
    return qkv[..., :d], qkv[..., 2 * d :], qkv[..., d : 2 * d]

# %% right: the matrix is cut instead of the product, and a list is returned
def project_qkv(x, W_qkv):
    return [torch.einsum("bld,de->ble", x, W) for W in W_qkv.tensor_split(3, dim=1)]

# %% right: F.linear with the transposed matrix, an axis of three by unflatten, and unbind, which gives a tuple
def project_qkv(x, W_qkv):
    return F.linear(x, W_qkv.T).unflatten(-1, (3, x.shape[-1])).unbind(dim=-2)
