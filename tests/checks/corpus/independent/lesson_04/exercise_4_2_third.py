# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights


# %% wrong: the output comes from PyTorch's function and is right, but the returned weights are a softmax of the unscaled scores
def cross_attention(x, memory, W_q, W_k, W_v):
    query, key, value = x @ W_q, memory @ W_k, memory @ W_v
    output = F.scaled_dot_product_attention(query, key, value)
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return output, weights


# %% wrong: adds a causal mask as in a decoder's self-attention, so token i of x sees memory tokens 0 to i only
def cross_attention(x, memory, W_q, W_k, W_v):
    query, key, value = x @ W_q, memory @ W_k, memory @ W_v
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    seen = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool).tril()
    weights = torch.softmax(scores.masked_fill(~seen, float("-inf")), dim=-1)
    return weights @ value, weights


# %% wrong: computes and returns everything in float32, so float64 arguments give float32 results
def cross_attention(x, memory, W_q, W_k, W_v):
    query = (x @ W_q).float()
    key = (memory @ W_k).float()
    value = (memory @ W_v).float()
    return attention(query, key, value)


# %% wrong: detaches the memory because the encoder has finished, so no gradient reaches the memory
def cross_attention(x, memory, W_q, W_k, W_v):
    memory = memory.detach()
    return attention(x @ W_q, memory @ W_k, memory @ W_v)


# %% right: carries each query over to the space of the memory (W_q times W_k transposed) and projects the averaged memory at the end, by einsum
def cross_attention(x, memory, W_q, W_k, W_v):
    asked = torch.einsum("bqx,xd,md->bqm", x, W_q, W_k) / W_k.shape[1] ** 0.5
    weights = torch.softmax(torch.einsum("bqm,bkm->bqk", asked, memory), dim=2)
    mixed = torch.bmm(weights, memory)
    return F.linear(mixed, W_v.T), weights


# %% right: loops over the batch and over the asking tokens, with dot products, exponentials and a sum per query
def cross_attention(x, memory, W_q, W_k, W_v):
    outputs, tables = [], []
    for asking, asked in zip(x, memory):
        keys, values = asked @ W_k, asked @ W_v
        rows = []
        for token in asking:
            scores = torch.mv(keys, token @ W_q) / keys.shape[1] ** 0.5
            e = (scores - scores.max().detach()).exp()
            rows.append(e / e.sum())
        tables.append(torch.stack(rows))
        outputs.append(torch.stack([row @ values for row in rows]))
    return torch.stack(outputs), torch.stack(tables)
