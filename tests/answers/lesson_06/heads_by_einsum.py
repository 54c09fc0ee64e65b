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

# %% wrong: detaches the weights that it returns, so no gradient flows through them
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bie,de->bid", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bje,de->bjd", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bje,de->bjd", memory, W_v).unflatten(-1, (num_heads, -1))
    weights = torch.softmax(torch.einsum("bihd,bjhd->bijh", q, k) / q.shape[-1] ** 0.5, dim=2)
    return torch.einsum("bijh,bjhd->bihd", weights, v).flatten(2), weights.detach()

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
