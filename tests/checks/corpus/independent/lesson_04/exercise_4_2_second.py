# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: the memory is cut to the length of x, so keys beyond L_q are lost when the memory is longer
def cross_attention(x, memory, W_q, W_k, W_v):
    memory = memory[:, : x.shape[1]]
    return attention(x @ W_q, memory @ W_k, memory @ W_v)

# %% wrong: treats the memory as a constant, so no gradient flows to it
def cross_attention(x, memory, W_q, W_k, W_v):
    memory = memory.detach()
    query, key, value = x @ W_q, memory @ W_k, memory @ W_v
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights

# %% wrong: makes the values of x instead of memory, which fails unless lengths and sizes agree
def cross_attention(x, memory, W_q, W_k, W_v):
    query = x @ W_q
    key = memory @ W_k
    value = x @ W_v
    return attention(query, key, value)

# %% wrong: uses the first item's memory for the whole batch
def cross_attention(x, memory, W_q, W_k, W_v):
    key, value = memory[0] @ W_k, memory[0] @ W_v
    scores = (x @ W_q) @ key.T / W_q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% right: keys and values in one fused projection, and PyTorch's own function for the output
def cross_attention(x, memory, W_q, W_k, W_v):
    d_k, d_v = W_k.shape[1], W_v.shape[1]
    key, value = (memory @ torch.cat([W_k, W_v], dim=1)).split([d_k, d_v], dim=-1)
    query = x @ W_q
    weights = (torch.bmm(query, key.transpose(1, 2)) * d_k**-0.5).softmax(-1)
    return F.scaled_dot_product_attention(query, key, value), weights

# %% right: a loop over the batch, with the memory projected after the averaging
def cross_attention(x, memory, W_q, W_k, W_v):
    outputs, weights = [], []
    for xi, mi in zip(x, memory):
        scores = torch.linalg.multi_dot([xi, W_q, W_k.T, mi.T]) / W_q.shape[-1] ** 0.5
        w = torch.exp(torch.log_softmax(scores, dim=1))
        weights.append(w)
        outputs.append(w @ mi @ W_v)
    return torch.stack(outputs), torch.stack(weights)
