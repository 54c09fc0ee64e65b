# %% setup
import torch

# %% wrong: softmax over the heads, the last axis
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = ((x @ W.T).unflatten(-1, (num_heads, -1)) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    w = (torch.einsum("bihd,bjhd->bijh", q, k) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return torch.einsum("bijh,bjhd->bihd", w, v).flatten(2), w

# %% wrong: weights with the heads in front, (B, H, L_q, L_k)
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = ((x @ W.T).unflatten(-1, (num_heads, -1)) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    w = (torch.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5).softmax(dim=-1)
    return torch.einsum("bhij,bjhd->bihd", w, v).flatten(2), w

# %% wrong: gives the heads of the keys a letter of their own in the scores, so every query head is compared with the sum of all key heads
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bie,de->bid", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bje,de->bjd", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bje,de->bjd", memory, W_v).unflatten(-1, (num_heads, -1))
    scores = torch.einsum("bihd,bjkd->bijh", q, k) / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=2)
    return torch.einsum("bijh,bjhd->bihd", weights, v).flatten(2), weights

# %% wrong: keeps the weights as (B, H, L_q, L_k) and brings the heads to the end by reshape, so the output is right but the returned weights are misplaced
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bie,de->bid", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bje,de->bjd", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bje,de->bjd", memory, W_v).unflatten(-1, (num_heads, -1))
    weights = torch.softmax(torch.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5, dim=-1)
    output = torch.einsum("bhij,bjhd->bihd", weights, v).flatten(2)
    return output, weights.reshape(query.shape[0], query.shape[1], memory.shape[1], num_heads)

# %% wrong: detaches the weights that it returns, so no gradient flows through them
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bie,de->bid", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bje,de->bjd", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bje,de->bjd", memory, W_v).unflatten(-1, (num_heads, -1))
    weights = torch.softmax(torch.einsum("bihd,bjhd->bijh", q, k) / q.shape[-1] ** 0.5, dim=2)
    return torch.einsum("bijh,bjhd->bihd", weights, v).flatten(2), weights.detach()

# %% two mistakes: divides by the root of the size of a value head; and takes the softmax over the heads
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bie,de->bid", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bje,de->bjd", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bje,de->bjd", memory, W_v).unflatten(-1, (num_heads, -1))
    weights = torch.softmax(torch.einsum("bihd,bjhd->bijh", q, k) / v.shape[-1] ** 0.5, dim=-1)
    return torch.einsum("bijh,bjhd->bihd", weights, v).flatten(2), weights

# %% wrong: the heads are not flattened
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bli,oi->blo", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bli,oi->blo", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bli,oi->blo", memory, W_v).unflatten(-1, (num_heads, -1))
    weights = (torch.einsum("bihd,bjhd->bijh", q, k) / q.shape[-1] ** 0.5).softmax(dim=2)
    return torch.einsum("bijh,bjhd->bihd", weights, v), weights

# %% wrong: cuts the last axis as (d_head, H), so the heads are interleaved
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q, k, v = ((x @ W.T).unflatten(-1, (-1, num_heads)) for x, W in ((query, W_q), (memory, W_k), (memory, W_v)))
    w = (torch.einsum("bidh,bjdh->bijh", q, k) / q.shape[2] ** 0.5).softmax(dim=2)
    return torch.einsum("bijh,bjdh->bidh", w, v).flatten(2), w

# %% right: cuts the matrices into heads, contracts query, both matrices and memory in one einsum, and mixes the memory before the values are projected
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    w_q, w_k, w_v = (W.reshape(num_heads, -1, W.shape[1]) for W in (W_q, W_k, W_v))
    scores = torch.einsum("bie,hde,hdf,bjf->bijh", query, w_q, w_k, memory) / w_q.shape[1] ** 0.5
    weights = scores.log_softmax(dim=2).exp()
    mixed = torch.einsum("bijh,bje->bihe", weights, memory)
    return torch.einsum("bihe,hve->bihv", mixed, w_v).reshape(*query.shape[:2], -1), weights

# %% right: no einsum, a broadcast product of all pairs
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    def heads(x, W):
        return torch.stack([torch.nn.functional.linear(x, part) for part in W.chunk(num_heads)], dim=2)

    q, k, v = heads(query, W_q), heads(memory, W_k), heads(memory, W_v)
    scores = (q[:, :, None] * k[:, None]).sum(-1) / k.shape[-1] ** 0.5  # (B, L_q, L_k, H)
    weights = scores.softmax(dim=-2)
    return (weights[..., None] * v[:, None]).sum(dim=2).reshape(*query.shape[:2], -1), weights

# %% setup
import torch

from course_utils.attention import masked_softmax


def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, d_model // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).reshape(B, L, H * d_head)

# %% wrong: divides by the square root of d_v, the head size of the values, instead of d_head
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bli,hdi->blhd", query, W_q.unflatten(0, (num_heads, -1)))
    k = torch.einsum("bli,hdi->blhd", memory, W_k.unflatten(0, (num_heads, -1)))
    v = torch.einsum("bli,hdi->blhd", memory, W_v.unflatten(0, (num_heads, -1)))
    d = W_v.shape[0] // num_heads
    weights = (torch.einsum("bqhd,bkhd->bqkh", q, k) / d**0.5).softmax(dim=2)
    return torch.einsum("bqkh,bkhv->bqhv", weights, v).flatten(2), weights

# %% wrong: cuts the rows of the matrices as (d_head, H) instead of (H, d_head), so each head gets every H-th row
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    B, L_q, d_in = query.shape
    q = torch.einsum("bqi,dhi->bqhd", query, W_q.view(-1, num_heads, d_in))
    k = torch.einsum("bki,dhi->bkhd", memory, W_k.view(-1, num_heads, d_in))
    v = torch.einsum("bki,dhi->bkhd", memory, W_v.view(-1, num_heads, d_in))
    weights = torch.softmax(torch.einsum("bqhd,bkhd->bqkh", q, k) / q.shape[-1] ** 0.5, dim=2)
    return torch.einsum("bqkh,bkhd->bqhd", weights, v).reshape(B, L_q, -1), weights

# %% right: one einsum with four operands from the inputs to the scores
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    Q, K, V = (W.unflatten(0, (num_heads, -1)) for W in (W_q, W_k, W_v))  # (H, d, d_in) each
    scores = torch.einsum("bqi,hdi,hdj,bkj->bqkh", query, Q, K, memory) / Q.shape[1] ** 0.5
    weights = torch.softmax(scores, dim=2)
    output = torch.einsum("bqkh,bkj,hvj->bqhv", weights, memory, V)
    return output.flatten(start_dim=2), weights

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

# %% wrong: scales by the root of d_v, which is right only if the values are as long as the keys
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = (query @ W_q.T).unflatten(-1, (num_heads, -1))
    k = (memory @ W_k.T).unflatten(-1, (num_heads, -1))
    v = (memory @ W_v.T).unflatten(-1, (num_heads, -1))
    scores = torch.einsum("bqhd,bkhd->bqkh", q, k) / v.shape[-1] ** 0.5
    weights = scores.softmax(dim=2)
    return torch.einsum("bqkh,bkhe->bqhe", weights, v).flatten(2), weights
