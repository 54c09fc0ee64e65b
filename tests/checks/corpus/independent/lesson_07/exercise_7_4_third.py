# %% setup
import torch
from course_utils.masks import causal_mask


def repeat_kv(x, num_repeats):
    return torch.stack([x[:, h // num_repeats] for h in range(x.shape[1] * num_repeats)], dim=1)


# %% wrong: takes the head size for the scale from the rows of W_k divided by num_heads, so the scores are divided by too small a number whenever num_kv_heads < num_heads
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    q = (x @ W_q.T).view(B, L, num_heads, -1).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, -1).transpose(1, 2)
    v = (x @ W_v.T).view(B, L, num_kv_heads, -1).transpose(1, 2)
    k, v = repeat_kv(k, num_heads // num_kv_heads), repeat_kv(v, num_heads // num_kv_heads)
    d_k = W_k.shape[0] / num_heads
    scores = q @ k.transpose(-2, -1) / d_k**0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% wrong: uses the mask of head 0 for all heads, which matters only if the mask differs from head to head
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    group = num_heads // num_kv_heads
    q = (x @ W_q.T).view(B, L, num_kv_heads, group, d_head)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head)
    scores = torch.einsum("bqjgd,bkjd->bjgqk", q, k) / d_head**0.5
    mask = mask.broadcast_to(B, num_heads, L, L)[:, 0]  # (B, L, L)
    scores = scores.masked_fill(~mask[:, None, None], float("-inf"))
    out = torch.einsum("bjgqk,bkjd->bqjgd", scores.softmax(dim=-1), v)
    return out.reshape(B, L, d_model) @ W_o.T


# %% wrong: shares the key heads in the right order (1 1 2 2) but tiles the value heads (1 2 1 2)
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    group = num_heads // num_kv_heads
    q = (x @ W_q.T).view(B, L, num_heads, d_head).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2).repeat_interleave(group, dim=1)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    v = torch.cat([v] * group, dim=1)
    scores = q @ k.transpose(-2, -1) / d_head**0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% wrong: the result is right, but the mask is negated in place (logical_not_), so the caller's mask has changed afterwards
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d_head).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    k, v = repeat_kv(k, num_heads // num_kv_heads), repeat_kv(v, num_heads // num_kv_heads)
    scores = q @ k.transpose(-2, -1) / d_head**0.5
    hidden = mask.logical_not_()
    weights = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% two mistakes: divides the scores by the root of (rows of W_k / num_heads) instead of d_head; and tiles the value heads (1 2 1 2)
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    group = num_heads // num_kv_heads
    q = (x @ W_q.T).view(B, L, num_heads, -1).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, -1).transpose(1, 2).repeat_interleave(group, dim=1)
    v = (x @ W_v.T).view(B, L, num_kv_heads, -1).transpose(1, 2).repeat(1, group, 1, 1)
    scores = q @ k.transpose(-2, -1) / (W_k.shape[0] / num_heads) ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% right: einsum over weights viewed by groups, no key or value repeated, the mask spread out to the groups, softmax by logsumexp
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d = d_model // num_heads
    group = num_heads // num_kv_heads
    q = torch.einsum("ble,jgde->bjgld", x, W_q.reshape(num_kv_heads, group, d, d_model))
    k = torch.einsum("ble,jde->bjld", x, W_k.reshape(num_kv_heads, d, d_model))
    v = torch.einsum("ble,jde->bjld", x, W_v.reshape(num_kv_heads, d, d_model))
    allowed = mask.broadcast_to(B, num_heads, L, L).reshape(B, num_kv_heads, group, L, L)
    scores = torch.einsum("bjgqd,bjkd->bjgqk", q, k) * d**-0.5
    scores = torch.where(allowed, scores, float("-inf"))
    weights = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
    return torch.einsum("bjgqk,bjkd,ojgd->bqo", weights, v, W_o.reshape(d_model, num_kv_heads, group, d))


# %% right: a loop over the query heads with slices of the matrices, each head's output projected by its own columns of W_o and summed
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d = d_model // num_heads
    full = mask.expand(B, num_heads, L, L)
    total = torch.zeros_like(x)
    for h in range(num_heads):
        j = h * num_kv_heads // num_heads
        own, shared = slice(h * d, (h + 1) * d), slice(j * d, (j + 1) * d)
        q, k, v = x @ W_q[own].T, x @ W_k[shared].T, x @ W_v[shared].T
        scores = torch.baddbmm(torch.zeros_like(q @ k.mT), q, k.mT, alpha=1 / d**0.5)
        weights = scores.masked_fill(full[:, h].logical_not(), -torch.inf).softmax(-1)
        total = total + weights @ v @ W_o[:, own].T
    return total
