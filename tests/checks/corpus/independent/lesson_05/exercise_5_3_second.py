# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: fills hidden scores with -1e4, which lies above visible scores near -100000, so hidden keys get the weight
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~mask, -1e4), dim=-1)
    return weights @ value, weights

# %% wrong: softmax over all keys, then zeroes the hidden weights and divides by the rest, which is 0 / 0 when hidden scores lie far above the others
def masked_attention(query, key, value, mask):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    weights = weights * mask
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% wrong: indexes the scores with the mask without broadcasting it, which is an error when the mask has size-1 or missing axes
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores[~mask] = float("-inf")
    weights = scores.softmax(-1)
    return weights @ value, weights

# %% wrong: computes in float32 and hands the results back in float32, whatever the dtype of the query
def masked_attention(query, key, value, mask):
    q, k, v = query.float(), key.float(), value.float()
    scores = (q @ k.transpose(-2, -1)) / q.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(mask.logical_not(), float("-inf")), dim=-1)
    return weights @ v, weights

# %% right: an additive mask of 0 and minus infinity, computed in float64 and cast back
def masked_attention(query, key, value, mask):
    q, k, v = query.double(), key.double(), value.double()
    bias = torch.zeros(mask.shape, dtype=torch.float64).masked_fill(~mask, -torch.inf)
    scores = torch.einsum("bqd,bkd->bqk", q, k) / q.shape[-1] ** 0.5 + bias
    weights = scores.softmax(dim=-1)
    return (weights @ v).to(query.dtype), weights.to(query.dtype)

# %% right: exp written out, with the maximum taken over the visible keys only
def masked_attention(query, key, value, mask):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    hidden = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
    top = hidden.amax(dim=-1, keepdim=True).detach()
    e = torch.exp(hidden - top)
    weights = e / e.sum(dim=-1, keepdim=True)
    return torch.bmm(weights, value), weights
