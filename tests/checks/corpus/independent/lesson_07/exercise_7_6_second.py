# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.masks import causal_mask


# %% wrong: repeats the keys correctly but leaves the values in the wrong order (repeat instead of repeat_interleave)
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=1)
    v = value.repeat(1, repeats, 1, 1)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ v


# %% wrong: ignores the mask it gets and always uses a causal one of its own (aligned to the last keys)
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = torch.repeat_interleave(key, repeats, dim=1)
    v = torch.repeat_interleave(value, repeats, dim=1)
    L_q, L_k = query.shape[2], key.shape[2]
    allowed = torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~allowed, -1e9).softmax(dim=-1)
    return weights @ v


# %% wrong: divides the scores by the root of the value size d_v instead of the key size d_k
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, 1)
    v = value.repeat_interleave(repeats, 1)
    scores = query @ k.transpose(-2, -1) / v.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ v


# %% wrong: reshapes the repeated keys and values with the length of the queries, which is an error if L_q and L_k differ
def grouped_attention(query, key, value, mask):
    B, H, L, d_k = query.shape
    r = H // key.shape[1]
    k = key.unsqueeze(2).expand(-1, -1, r, -1, -1).reshape(B, H, L, d_k)
    v = value.unsqueeze(2).expand(-1, -1, r, -1, -1).reshape(B, H, L, value.shape[-1])
    scores = query @ k.transpose(-2, -1) / d_k**0.5
    scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ v


# %% right: splits the query heads into groups and lets broadcasting share the key/value heads, nothing is repeated
def grouped_attention(query, key, value, mask):
    q = query.unflatten(1, (key.shape[1], -1))  # (B, H_kv, r, L_q, d_k)
    scores = q @ key.unsqueeze(2).mT / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask.unsqueeze(2), float("-inf")).softmax(dim=-1)
    return (weights @ value.unsqueeze(2)).flatten(1, 2)


# %% right: a loop over the query heads with an additive mask
def grouped_attention(query, key, value, mask):
    r = query.shape[1] // key.shape[1]
    bias = torch.zeros(mask.shape[-2:], dtype=query.dtype).masked_fill(~mask[0, 0], float("-inf"))
    heads = []
    for h in range(query.shape[1]):
        q, k, v = query[:, h], key[:, h // r], value[:, h // r]
        scores = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=q.shape[-1] ** -0.5)
        heads.append(torch.bmm(F.softmax(scores, dim=-1), v))
    return torch.stack(heads, dim=1)
