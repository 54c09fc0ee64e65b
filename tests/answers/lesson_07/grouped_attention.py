# %% setup
import torch

from course_utils.masks import causal_mask

# %% wrong: mends only the keys, the values are still tiled and belong to other heads
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=1)
    v = value.repeat(1, repeats, 1, 1)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ v

# %% wrong: repeats every head exactly twice as in the example, an error or wrong heads for other group sizes
def grouped_attention(query, key, value, mask):
    k = key.repeat_interleave(2, dim=1)
    v = value.repeat_interleave(2, dim=1)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ v

# %% wrong: splits the query heads as (group, H_kv) instead of (H_kv, group), so query head h still meets key/value head h modulo H_kv
def grouped_attention(query, key, value, mask):
    B, H, L_q, d_k = query.shape
    H_kv = key.shape[1]
    q = query.reshape(B, H // H_kv, H_kv, L_q, d_k)
    scores = q @ key[:, None].transpose(-2, -1) / d_k**0.5
    weights = scores.masked_fill(~mask[:, None], float("-inf")).softmax(dim=-1)
    return (weights @ value[:, None]).reshape(B, H, L_q, value.shape[-1])

# %% wrong: divides by the root of the size of the values d_v, which is right only if d_v equals d_k
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=1)
    v = value.repeat_interleave(repeats, dim=1)
    scores = query @ k.transpose(-2, -1) / v.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ v

# %% two mistakes: takes the softmax over the queries (dim -2); and forgets to divide by the root of d_k
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=1)
    v = value.repeat_interleave(repeats, dim=1)
    scores = query @ k.transpose(-2, -1)
    weights = scores.masked_fill(~mask, -1e9).softmax(dim=-2)
    return weights @ v

# %% right: gives the queries a group axis and lets keys and values broadcast, nothing is repeated
def grouped_attention(query, key, value, mask):
    B, H, L_q, d_k = query.shape
    H_kv = key.shape[1]
    q = query.unflatten(1, (H_kv, H // H_kv))  # (B, H_kv, G, L_q, d_k)
    scores = q @ key.unsqueeze(2).mT / d_k**0.5
    weights = scores.masked_fill(~mask.unsqueeze(2), float("-inf")).softmax(dim=-1)
    return (weights @ value.unsqueeze(2)).flatten(1, 2)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.masks import causal_mask

# %% wrong: reshapes the repeated keys and values with the length of the queries, which is an error if L_q and L_k differ
def grouped_attention(query, key, value, mask):
    B, H, L, d_k = query.shape
    r = H // key.shape[1]
    k = key.unsqueeze(2).expand(-1, -1, r, -1, -1).reshape(B, H, L, d_k)
    v = value.unsqueeze(2).expand(-1, -1, r, -1, -1).reshape(B, H, L, value.shape[-1])
    scores = query @ k.transpose(-2, -1) / d_k**0.5
    scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ v

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

# %% setup
import torch

# %% right: the axes are exchanged on the way in and back on the way out
def grouped_attention(query, key, value, mask):
    B, H, L, d = query.shape
    j = key.shape[1]
    q = query.view(B, j, H // j, L, d).transpose(1, 2)
    s = q @ key[:, None].mT / d**0.5
    w = s.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
    return (w @ value[:, None]).transpose(1, 2).flatten(1, 2)
