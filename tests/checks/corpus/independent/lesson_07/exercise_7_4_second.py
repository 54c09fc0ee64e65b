# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.masks import causal_mask


def repeat_kv(x, num_repeats):
    return x.repeat_interleave(num_repeats, dim=1)


# %% wrong: takes the head size from the key/value heads (d_model // num_kv_heads) for the scale, right only if H_kv equals H
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    q = (x @ W_q.T).view(B, L, num_heads, -1).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, -1).transpose(1, 2)
    v = (x @ W_v.T).view(B, L, num_kv_heads, -1).transpose(1, 2)
    k = repeat_kv(k, num_heads // num_kv_heads)
    v = repeat_kv(v, num_heads // num_kv_heads)
    scores = q @ k.transpose(-2, -1) / (d_model // num_kv_heads) ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% wrong: multiplies the weights with the mask after the softmax and does not divide by their sum again, so rows of weights do not add up to 1
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    q = F.linear(x, W_q).view(B, L, num_heads, d_head).transpose(1, 2)
    k = F.linear(x, W_k).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    v = F.linear(x, W_v).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    k, v = repeat_kv(k, num_heads // num_kv_heads), repeat_kv(v, num_heads // num_kv_heads)
    weights = (q @ k.transpose(-2, -1) / d_head**0.5).softmax(dim=-1) * mask
    out = (weights @ v).transpose(1, 2).reshape(B, L, d_model)
    return F.linear(out, W_o)


# %% wrong: works with grouped scores of five dimensions and only adds a dimension to the mask, which is an error for a mask with its own rows for each head (if H_kv is less than H)
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    groups = num_heads // num_kv_heads
    q = (x @ W_q.T).view(B, L, num_kv_heads, groups, d_head).permute(0, 2, 3, 1, 4)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)[:, :, None]
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)[:, :, None]
    scores = q @ k.transpose(-2, -1) / d_head**0.5  # (B, H_kv, groups, L, L)
    while mask.dim() < 4:
        mask = mask[None]
    scores = scores.masked_fill(~mask.unsqueeze(2), float("-inf"))
    out = scores.softmax(dim=-1) @ v
    return out.permute(0, 3, 1, 2, 4).reshape(B, L, d_model) @ W_o.T


# %% wrong: joins the heads without bringing the position axis back to the front, so features of different positions are mixed
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    q = (x @ W_q.T).reshape(B, L, num_heads, d_head).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).reshape(B, L, num_kv_heads, d_head).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).reshape(B, L, num_kv_heads, d_head).transpose(1, 2), num_heads // num_kv_heads)
    scores = (q @ k.mT) / d_head**0.5
    scores = scores.masked_fill(~mask, float("-inf"))
    heads = torch.softmax(scores, dim=-1) @ v
    return heads.reshape(B, L, d_model) @ W_o.T


# %% two mistakes: the mask is read the wrong way round (masks where True); and the output projection W_o is forgotten
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d_head).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2), num_heads // num_kv_heads)
    scores = q @ k.transpose(-2, -1) / d_head**0.5
    scores = scores.masked_fill(mask, -1e9)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, L, d_model)


# %% right: one query head at a time in a loop, and the parts of W_o added up instead of joining the heads
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d = d_model // num_heads
    mask = mask.expand(B, num_heads, L, L)
    out = torch.zeros_like(x)
    for h in range(num_heads):
        j = h // (num_heads // num_kv_heads)
        q = x @ W_q[h * d:(h + 1) * d].T
        k = x @ W_k[j * d:(j + 1) * d].T
        v = x @ W_v[j * d:(j + 1) * d].T
        s = torch.bmm(q, k.transpose(1, 2)) / d**0.5
        w = torch.where(mask[:, h], s, torch.full_like(s, float("-inf"))).softmax(dim=2)
        out = out + torch.bmm(w, v) @ W_o[:, h * d:(h + 1) * d].T
    return out


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
