# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights


# %% wrong: turns the keys to (B, d_k, L) by reshape instead of transpose, so the numbers of different tokens get mixed
def self_attention(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    B, L, d_k = key.shape
    weights = torch.softmax(query @ key.reshape(B, d_k, L) / d_k**0.5, dim=-1)
    return weights @ value, weights


# %% wrong: hides each token from itself, so the diagonal of the weights is 0 (and a sequence of one token becomes NaN)
def self_attention(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    scores = query @ key.mT / query.shape[-1] ** 0.5
    itself = torch.eye(x.shape[1], dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(itself, float("-inf")), dim=-1)
    return weights @ value, weights


# %% wrong: multiplies W_q and W_k to one square matrix first and divides by the root of that matrix's size, which is d_model and not d_k
def self_attention(x, W_q, W_k, W_v):
    W_qk = W_q @ W_k.T
    scores = x @ W_qk @ x.transpose(-2, -1) / W_qk.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ (x @ W_v), weights


# %% wrong: calls F.softmax without dim, which for three axes means the batch axis, so the weights sum to 1 over the batch
def self_attention(x, W_q, W_k, W_v):
    query, key, value = x @ W_q, x @ W_k, x @ W_v
    weights = F.softmax(query @ key.transpose(1, 2) / query.shape[-1] ** 0.5)
    return weights @ value, weights


# %% right: one product with the three matrices side by side, then PyTorch's own attention, whose weights are read off with the identity as the values
def self_attention(x, W_q, W_k, W_v):
    d_k, d_v = W_q.shape[1], W_v.shape[1]
    query, key, value = (x @ torch.cat([W_q, W_k, W_v], dim=1)).split([d_k, d_k, d_v], dim=-1)
    eye = torch.eye(x.shape[1], dtype=x.dtype).expand(x.shape[0], -1, -1)
    weights = F.scaled_dot_product_attention(query, key, eye)
    return weights @ value, weights


# %% right: one einsum for the scores from x, W_q, W_k and x, and the values projected only after the weighted sum of the tokens
def self_attention(x, W_q, W_k, W_v):
    scores = torch.einsum("bie,ed,fd,bjf->bij", x, W_q, W_k, x) * W_q.shape[1] ** -0.5
    weights = scores.log_softmax(-1).exp()
    return torch.einsum("bij,bje->bie", weights, x) @ W_v, weights
