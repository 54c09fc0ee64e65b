# %% setup
import torch


# %% right: unflatten for splitting, groups broadcast, a mask of any number of axes
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    d = x.shape[-1] // num_heads
    q = (x @ W_q.T).unflatten(2, (num_kv_heads, -1, d)).permute(0, 2, 3, 1, 4)
    k = (x @ W_k.T).unflatten(2, (num_kv_heads, 1, d)).permute(0, 2, 3, 1, 4)
    v = (x @ W_v.T).unflatten(2, (num_kv_heads, 1, d)).permute(0, 2, 3, 1, 4)
    scores = (q @ k.mT / d**0.5).flatten(1, 2).masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1).unflatten(1, (num_kv_heads, -1))
    return (weights @ v).permute(0, 3, 1, 2, 4).flatten(2) @ W_o.T


# %% right: pads nothing, shares heads by index, large negative number in place of minus infinity
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, D = x.shape
    d = W_k.shape[0] // num_kv_heads
    partner = [h // (num_heads // num_kv_heads) for h in range(num_heads)]
    q = (x @ W_q.T).reshape(B, L, num_heads, d).permute(0, 2, 1, 3)
    k = (x @ W_k.T).reshape(B, L, num_kv_heads, d).permute(0, 2, 1, 3)[:, partner]
    v = (x @ W_v.T).reshape(B, L, num_kv_heads, d).permute(0, 2, 1, 3)[:, partner]
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / d**0.5
    w = torch.where(mask, scores, -1e9).softmax(-1)
    return torch.einsum("bhqk,bhkd->bqhd", w, v).reshape(B, L, D) @ W_o.T


# %% wrong: multiplies by the weights as they are, not transposed, where that is possible
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, D = x.shape
    d = D // num_heads
    q = (x @ W_q).view(B, L, num_heads, d).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2)
    k, v = (t.repeat_interleave(num_heads // num_kv_heads, 1) for t in (k, v))
    w = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(-1)
    return (w @ v).transpose(1, 2).reshape(B, L, D) @ W_o


# %% wrong: views the projections with the heads in front of the positions, so that positions are mixed
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, D = x.shape
    d = D // num_heads
    q = (x @ W_q.T).view(B, num_heads, L, d)
    k = (x @ W_k.T).view(B, num_kv_heads, L, d).repeat_interleave(num_heads // num_kv_heads, 1)
    v = (x @ W_v.T).view(B, num_kv_heads, L, d).repeat_interleave(num_heads // num_kv_heads, 1)
    w = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(-1)
    return (w @ v).transpose(1, 2).reshape(B, L, D) @ W_o.T


# %% wrong: forgets to divide the scores
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, D = x.shape
    d = D // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2)
    k, v = (t.repeat_interleave(num_heads // num_kv_heads, 1) for t in (k, v))
    w = (q @ k.mT).masked_fill(~mask, float("-inf")).softmax(-1)
    return (w @ v).transpose(1, 2).reshape(B, L, D) @ W_o.T
