# %% setup
import torch

from course_utils.masks import causal_mask


def repeat_kv(x, num_repeats):
    return x.repeat_interleave(num_repeats, dim=1)

# %% wrong: cuts the gradient of W_q only
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    W_q = W_q.detach()
    B, L, d_model = x.shape
    d = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    weights = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T

# %% wrong: cuts the gradient of W_k only
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    W_k = W_k.detach()
    B, L, d_model = x.shape
    d = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    weights = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T

# %% wrong: cuts the gradient of W_v only
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    W_v = W_v.detach()
    B, L, d_model = x.shape
    d = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    weights = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T

# %% wrong: cuts the gradient of W_o only
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    W_o = W_o.detach()
    B, L, d_model = x.shape
    d = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    weights = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T

# %% wrong: queries and keys from x without gradient, so that x gets the share of the values alone
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d = d_model // num_heads
    q = (x.detach() @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = repeat_kv((x.detach() @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    weights = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T

# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.masks import causal_mask


def repeat_kv(x, num_repeats):
    return x.repeat_interleave(num_repeats, dim=1)

# %% right: einsum with groups as an axis of their own, softmax written out with logsumexp
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d, g = d_model // num_heads, num_heads // num_kv_heads
    q = torch.einsum("bld,jgcd->bjglc", x, W_q.reshape(num_kv_heads, g, d, d_model))
    k = torch.einsum("bld,jcd->bjlc", x, W_k.reshape(num_kv_heads, d, d_model))
    v = torch.einsum("bld,jcd->bjlc", x, W_v.reshape(num_kv_heads, d, d_model))
    scores = torch.einsum("bjglc,bjmc->bjglm", q, k) / d**0.5
    allowed = mask.expand(B, num_heads, L, L).reshape(B, num_kv_heads, g, L, L)
    scores = scores.masked_fill(~allowed, float("-inf"))
    weights = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
    heads = torch.einsum("bjglm,bjmc->bjglc", weights, v)
    return torch.einsum("bjglc,ojgc->blo", heads, W_o.reshape(d_model, num_kv_heads, g, d))

# %% setup
import torch
from course_utils.masks import causal_mask


def repeat_kv(x, num_repeats):
    return torch.stack([x[:, h // num_repeats] for h in range(x.shape[1] * num_repeats)], dim=1)

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

# %% setup
import torch

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

# %% wrong: the queries by W_q as it is, not transposed
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head, n = d_model // num_heads, num_heads // num_kv_heads
    q = (x @ W_q).view(B, L, num_heads, d_head).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2).repeat_interleave(n, dim=1)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2).repeat_interleave(n, dim=1)
    scores = (q @ k.transpose(-2, -1) / d_head**0.5).masked_fill(~mask, float("-inf"))
    return (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T

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

# %% wrong: hides masked positions by subtracting 1000 from the scores, so with scores in the thousands a hidden key may still win the softmax
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads

    def heads(W, n):
        return (x @ W.T).reshape(B, L, n, d_head).transpose(1, 2)

    q, k, v = heads(W_q, num_heads), heads(W_k, num_kv_heads), heads(W_v, num_kv_heads)
    k = k.repeat_interleave(num_heads // num_kv_heads, dim=1)
    v = v.repeat_interleave(num_heads // num_kv_heads, dim=1)
    scores = q @ k.transpose(-2, -1) / d_head**0.5
    scores = scores - 1000.0 * (~mask)
    weights = torch.softmax(scores, dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T
