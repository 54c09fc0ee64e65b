# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: exchanges the roles: the queries are made from memory, the keys and values from x
def cross_attention(x, memory, W_q, W_k, W_v):
    query = memory @ W_q
    key, value = x @ W_k, x @ W_v
    return attention(query, key, value)

# %% wrong: makes the values from x instead of from memory
def cross_attention(x, memory, W_q, W_k, W_v):
    query, key, value = x @ W_q, memory @ W_k, x @ W_v
    return attention(query, key, value)

# %% wrong: uses the first memory of the batch for all items, right for a batch of 1 only
def cross_attention(x, memory, W_q, W_k, W_v):
    query = x @ W_q
    key = memory[0] @ W_k
    value = memory[0] @ W_v
    weights = torch.softmax(query @ key.T / key.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights

# %% wrong: cuts the memory to the length of x, so tokens of a longer memory are lost
def cross_attention(x, memory, W_q, W_k, W_v):
    memory = memory[:, : x.shape[1]]
    return attention(x @ W_q, memory @ W_k, memory @ W_v)

# %% two mistakes: takes the softmax over the queries (axis 1) instead of over the memory's tokens; and forgets the scale
def cross_attention(x, memory, W_q, W_k, W_v):
    query, key, value = x @ W_q, memory @ W_k, memory @ W_v
    weights = torch.softmax(query @ key.transpose(1, 2), dim=1)
    return weights @ value, weights

# %% right: a loop over the batch, with the memory projected after the averaging
def cross_attention(x, memory, W_q, W_k, W_v):
    outputs, weights = [], []
    for xi, mi in zip(x, memory):
        scores = torch.linalg.multi_dot([xi, W_q, W_k.T, mi.T]) / W_q.shape[-1] ** 0.5
        w = torch.exp(torch.log_softmax(scores, dim=1))
        weights.append(w)
        outputs.append(w @ mi @ W_v)
    return torch.stack(outputs), torch.stack(weights)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights

# %% wrong: detaches the memory because the encoder has finished, so no gradient reaches the memory
def cross_attention(x, memory, W_q, W_k, W_v):
    memory = memory.detach()
    return attention(x @ W_q, memory @ W_k, memory @ W_v)

# %% wrong: computes and returns everything in float32, so float64 arguments give float32 results
def cross_attention(x, memory, W_q, W_k, W_v):
    query = (x @ W_q).float()
    key = (memory @ W_k).float()
    value = (memory @ W_v).float()
    return attention(query, key, value)

# %% right: carries each query over to the space of the memory (W_q times W_k transposed) and projects the averaged memory at the end, by einsum
def cross_attention(x, memory, W_q, W_k, W_v):
    asked = torch.einsum("bqx,xd,md->bqm", x, W_q, W_k) / W_k.shape[1] ** 0.5
    weights = torch.softmax(torch.einsum("bqm,bkm->bqk", asked, memory), dim=2)
    mixed = torch.bmm(weights, memory)
    return F.linear(mixed, W_v.T), weights

# %% setup
import torch
import torch.nn.functional as F

# %% right: one joint matrix for the scores, the values projected after mixing
def cross_attention(x, memory, W_q, W_k, W_v):
    joint = W_q @ W_k.T / W_q.shape[1] ** 0.5
    weights = (x @ joint @ memory.transpose(1, 2)).softmax(dim=2)
    return weights @ memory @ W_v, weights
