# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.attention import masked_softmax

# %% wrong: splits W_v with the head size of W_q, which is an error or a wrong result when d_v differs from d_head
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    d_head = W_q.shape[0] // num_heads
    q = torch.einsum("bqi,hdi->bqhd", query, W_q.view(num_heads, d_head, -1))
    k = torch.einsum("bki,hdi->bkhd", memory, W_k.view(num_heads, d_head, -1))
    v = torch.einsum("bki,hdi->bkhd", memory, W_v.view(num_heads, d_head, W_v.shape[1]))
    weights = torch.softmax(torch.einsum("bqhd,bkhd->bqkh", q, k) / d_head**0.5, dim=2)
    return torch.einsum("bqkh,bkhd->bqhd", weights, v).flatten(2), weights

# %% wrong: takes the softmax over the last axis, which holds the heads in this layout
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = (query @ W_q.T).unflatten(-1, (num_heads, -1))
    k = (memory @ W_k.T).unflatten(-1, (num_heads, -1))
    v = (memory @ W_v.T).unflatten(-1, (num_heads, -1))
    scores = torch.einsum("bqhd,bkhd->bqkh", q, k) / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bqkh,bkhe->bqhe", weights, v).flatten(2), weights

# %% wrong: scales by the root of d_v, which is right only if the values are as long as the keys
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = (query @ W_q.T).unflatten(-1, (num_heads, -1))
    k = (memory @ W_k.T).unflatten(-1, (num_heads, -1))
    v = (memory @ W_v.T).unflatten(-1, (num_heads, -1))
    scores = torch.einsum("bqhd,bkhd->bqkh", q, k) / v.shape[-1] ** 0.5
    weights = scores.softmax(dim=2)
    return torch.einsum("bqkh,bkhe->bqhe", weights, v).flatten(2), weights

# %% wrong: puts the output together as (d_v, H) instead of (H, d_v), so the heads' features are interleaved
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = (query @ W_q.T).unflatten(-1, (num_heads, -1))
    k = (memory @ W_k.T).unflatten(-1, (num_heads, -1))
    v = (memory @ W_v.T).unflatten(-1, (num_heads, -1))
    scores = torch.einsum("bqhd,bkhd->bqkh", q, k) / q.shape[-1] ** 0.5
    weights = scores.softmax(dim=2)
    return torch.einsum("bqkh,bkhe->bqeh", weights, v).flatten(2), weights

# %% two mistakes: takes the softmax over the queries (axis 1) instead of the keys; and forgets to divide by the root of d_head
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = (query @ W_q.T).unflatten(-1, (num_heads, -1))
    k = (memory @ W_k.T).unflatten(-1, (num_heads, -1))
    v = (memory @ W_v.T).unflatten(-1, (num_heads, -1))
    weights = torch.einsum("bqhd,bkhd->bqkh", q, k).softmax(dim=1)
    return torch.einsum("bqkh,bkhe->bqhe", weights, v).flatten(2), weights

# %% right: no einsum, a loop over heads with chunks of the matrices
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    outputs, weights = [], []
    for w_q, w_k, w_v in zip(W_q.chunk(num_heads), W_k.chunk(num_heads), W_v.chunk(num_heads)):
        scores = torch.bmm(query @ w_q.T, (memory @ w_k.T).mT) / w_q.shape[0] ** 0.5
        w = torch.softmax(scores, dim=-1)
        weights.append(w)
        outputs.append(w @ (memory @ w_v.T))
    return torch.cat(outputs, dim=-1), torch.stack(weights, dim=-1)

# %% right: elementwise products and sums in place of einsum for scores and output, all in the layout (B, L_q, L_k, H, d)
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    (B, L_q, _), L_k = query.shape, memory.shape[1]
    q = (query @ W_q.T).reshape(B, L_q, 1, num_heads, -1)
    k = (memory @ W_k.T).reshape(B, 1, L_k, num_heads, -1)
    v = (memory @ W_v.T).reshape(B, 1, L_k, num_heads, -1)
    scores = (q * k).sum(-1) / q.shape[-1] ** 0.5
    weights = torch.exp(scores.log_softmax(dim=2))
    return (weights[..., None] * v).sum(dim=2).reshape(B, L_q, -1), weights
