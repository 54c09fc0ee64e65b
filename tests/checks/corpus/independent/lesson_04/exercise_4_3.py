# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: makes the keys with W_q too, W_k is never used
def self_attention(x, W_q, W_k, W_v):
    query = x @ W_q
    key = x @ W_q
    value = x @ W_v
    return attention(query, key, value)

# %% wrong: divides by sqrt(d_model) instead of sqrt(d_k)
def self_attention(x, W_q, W_k, W_v):
    d_model = x.shape[-1]
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = query @ key.transpose(-2, -1) / d_model**0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: treats the matrices as nn.Linear does (out, in) and multiplies with their transposes, an error unless they are square and wrong if they are
def self_attention(x, W_q, W_k, W_v):
    query = F.linear(x, W_q)
    key = F.linear(x, W_k)
    value = F.linear(x, W_v)
    return attention(query, key, value)

# %% wrong: multiplies keys with queries the other way round, so that row i of the weights belongs to token i as the key
def self_attention(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = key @ query.transpose(1, 2) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: hides the diagonal, so that no token attends to itself
def self_attention(x, W_q, W_k, W_v):
    L = x.shape[1]
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = query @ key.transpose(-2, -1) / W_q.shape[1] ** 0.5
    scores = scores.masked_fill(torch.eye(L, dtype=torch.bool), float("-inf"))
    weights = scores.softmax(-1)
    return weights @ value, weights

# %% wrong: normalizes over the batch axis (axis 0) instead of over the keys
def self_attention(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = F.softmax(scores, dim=0)
    return weights @ value, weights

# %% two mistakes: forgets the scale; and adds x @ W_v of the token itself to the output as a residual
def self_attention(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return value + weights @ value, weights

# %% right: scores as a bilinear form with W_q @ W_k.T, and the average is taken of x before it is projected
def self_attention(x, W_q, W_k, W_v):
    form = W_q @ W_k.T / W_q.shape[1] ** 0.5
    weights = torch.softmax(x @ form @ x.mT, dim=-1)
    return weights @ x @ W_v, weights

# %% right: a loop over the sequences and over the tokens as queries
def self_attention(x, W_q, W_k, W_v):
    outputs, weights = [], []
    for seq in x:
        key, value = seq @ W_k, seq @ W_v
        rows = [torch.softmax(key @ (token @ W_q) / key.shape[1] ** 0.5, dim=0) for token in seq]
        rows = torch.stack(rows)
        weights.append(rows)
        outputs.append(rows @ value)
    return torch.stack(outputs), torch.stack(weights)

# %% right: einsum throughout, with one fused projection split unevenly
def self_attention(x, W_q, W_k, W_v):
    d_k, d_v = W_q.shape[1], W_v.shape[1]
    fused = torch.einsum("bld,de->ble", x, torch.cat([W_q, W_k, W_v], dim=1))
    q, k, v = fused.split([d_k, d_k, d_v], dim=-1)
    logits = torch.einsum("bie,bje->bij", q, k) * d_k**-0.5
    weights = torch.log_softmax(logits, dim=2).exp()
    return torch.einsum("bij,bjv->biv", weights, v), weights


# %% right: named in the review: PyTorch's own attention for the output, the course's attention for the weights
def self_attention(x, W_q, W_k, W_v):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    weights = torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1)
    return F.scaled_dot_product_attention(q, k, v), weights
