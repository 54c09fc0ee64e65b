# %% setup
import torch
from course_utils.masks import causal_mask


# %% wrong: reorders the tiled heads with the two sizes exchanged (view as H_kv x repeats, then transposed), right when the number of key/value heads equals the number of repeats, as in the cell
def grouped_attention(query, key, value, mask):
    B, H_kv = key.shape[:2]
    repeats = query.shape[1] // H_kv

    def share(x):
        tiled = x.repeat(1, repeats, 1, 1)
        split = tiled.view(B, H_kv, repeats, *x.shape[2:])
        return split.transpose(1, 2).reshape(tiled.shape)

    scores = query @ share(key).transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ share(value)


# %% wrong: repeats along the positions instead of the heads and views the result with H heads, right only where a head holds the same vector at all positions, as the values of the cell do
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=2).reshape(key.shape[0], query.shape[1], key.shape[2], key.shape[3])
    v = value.repeat_interleave(repeats, dim=2).reshape(value.shape[0], query.shape[1], value.shape[2], value.shape[3])
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ v


# %% wrong: computes as the broken function does and puts only the output heads into another order, so each query still meets another group's keys
def grouped_attention(query, key, value, mask):
    B, H, L_q, _ = query.shape
    H_kv = key.shape[1]
    repeats = H // H_kv
    k = key.repeat(1, repeats, 1, 1)
    v = value.repeat(1, repeats, 1, 1)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    out = weights @ v
    return out.view(B, repeats, H_kv, L_q, -1).transpose(1, 2).reshape(B, H, L_q, -1)


# %% wrong: the numbers are right, but the heads are shared inside no_grad, so no gradient reaches key and value
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    with torch.no_grad():
        k = key.repeat_interleave(repeats, dim=1)
        v = value.repeat_interleave(repeats, dim=1)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ v


# %% right: stacks the queries of a group along the query axis, so that keys and values are used as they are, and takes them apart afterwards
def grouped_attention(query, key, value, mask):
    B, H, L_q, d_k = query.shape
    H_kv, L_k = key.shape[1:3]
    repeats = H // H_kv
    q = query.reshape(B, H_kv, repeats * L_q, d_k)
    scores = q.matmul(key.mT).div(d_k**0.5)
    scores = scores.masked_fill(mask.repeat(1, 1, repeats, 1).logical_not(), float("-inf"))
    return scores.softmax(dim=-1).matmul(value).reshape(B, H, L_q, value.shape[-1])


# %% right: loops over batch and query heads with two-dimensional matrices and stacks the results
def grouped_attention(query, key, value, mask):
    group = query.shape[1] // key.shape[1]
    hidden = torch.where(mask[0, 0], 0.0, float("-inf"))
    rows = []
    for q, k, v in zip(query, key, value):
        heads = []
        for h, q_h in enumerate(q):
            scores = q_h.mm(k[h // group].t()) / q.shape[-1] ** 0.5 + hidden
            heads.append(torch.softmax(scores, 1).mm(v[h // group]))
        rows.append(torch.stack(heads))
    return torch.stack(rows)
