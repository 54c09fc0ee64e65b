# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: each token is kept from attending to itself, the diagonal of the scores is set to minus infinity
def self_attention(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = query @ key.transpose(-2, -1) / W_k.shape[-1] ** 0.5
    eye = torch.eye(x.shape[1], dtype=torch.bool)
    weights = scores.masked_fill(eye, float("-inf")).softmax(dim=-1)
    return weights @ value, weights

# %% wrong: scales by the root of d_model instead of d_k
def self_attention(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = query @ key.transpose(1, 2) / x.shape[-1] ** 0.5
    weights = torch.softmax(scores, -1)
    return weights @ value, weights

# %% wrong: projects with the transposed matrices (F.linear), which fails unless they are square and then gives other numbers
def self_attention(x, W_q, W_k, W_v):
    query = F.linear(x, W_q)
    key = F.linear(x, W_k)
    value = F.linear(x, W_v)
    return attention(query, key, value)

# %% wrong: returns the weights transposed, so that row i belongs to token i as the key; the output is right
def self_attention(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = key @ query.transpose(-2, -1) / W_q.shape[1] ** 0.5  # (B, key, query)
    weights = scores.softmax(dim=1)
    output = weights.transpose(1, 2) @ value
    return output, weights

# %% right: both score matrices are merged to one bilinear form x (W_q W_k^T) x^T, and the mean of x is taken before the projection by W_v
def self_attention(x, W_q, W_k, W_v):
    bilinear = W_q @ W_k.T / W_q.shape[1] ** 0.5
    weights = F.softmax(x @ bilinear @ x.mT, dim=-1)
    return (weights @ x) @ W_v, weights

# %% right: a loop over the items of the batch and over the tokens
def self_attention(x, W_q, W_k, W_v):
    outputs, weights = [], []
    for item in x:
        key, value = item @ W_k, item @ W_v
        rows = [torch.softmax(key @ (token @ W_q) / W_k.shape[1] ** 0.5, dim=0) for token in item]
        weights.append(torch.stack(rows))
        outputs.append(weights[-1] @ value)
    return torch.stack(outputs), torch.stack(weights)
