# %% setup
import torch

from course_utils.masks import causal_mask


def repeat_kv(x, num_repeats):
    return x.repeat_interleave(num_repeats, dim=1)


# %% wrong: tiles the key/value heads (0, 1, 0, 1) so that query heads meet the wrong partners
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d_head).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    k = k.repeat(1, num_heads // num_kv_heads, 1, 1)
    v = v.repeat(1, num_heads // num_kv_heads, 1, 1)
    scores = q @ k.transpose(-2, -1) / d_head**0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(B, L, d_model)
    return out @ W_o.T


# %% wrong: divides the scores by the root of d_model instead of the root of the head size
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    repeats = num_heads // num_kv_heads
    q = (x @ W_q.T).view(B, L, num_heads, d_head).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2), repeats)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2), repeats)
    scores = q @ k.transpose(-2, -1) / x.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% wrong: gives the mask a group axis by unsqueeze, a Python error (or a wrong pairing) for masks that differ from head to head or have fewer than four axes
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    group = num_heads // num_kv_heads
    q = (x @ W_q.T).view(B, L, num_kv_heads, group, d_head).permute(0, 2, 3, 1, 4)  # (B, H_kv, G, L, d)
    k = (x @ W_k.T).view(B, L, num_kv_heads, 1, d_head).permute(0, 2, 3, 1, 4)
    v = (x @ W_v.T).view(B, L, num_kv_heads, 1, d_head).permute(0, 2, 3, 1, 4)
    scores = q @ k.transpose(-2, -1) / d_head**0.5
    weights = scores.masked_fill(~mask.unsqueeze(2), float("-inf")).softmax(dim=-1)
    out = (weights @ v).permute(0, 3, 1, 2, 4).reshape(B, L, d_model)
    return out @ W_o.T


# %% wrong: puts the heads together without bringing the position axis in front of the head axis first
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d_head).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    k = repeat_kv(k, num_heads // num_kv_heads)
    v = repeat_kv(v, num_heads // num_kv_heads)
    scores = q @ k.transpose(-2, -1) / d_head**0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    out = (weights @ v).reshape(B, L, d_model)
    return out @ W_o.T


# %% wrong: computes keys and values under no_grad, so no gradient reaches W_k and W_v
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d_head).transpose(1, 2)
    with torch.no_grad():  # these are what a cache would hold
        k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
        v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
        k = repeat_kv(k, num_heads // num_kv_heads)
        v = repeat_kv(v, num_heads // num_kv_heads)
    scores = q @ k.transpose(-2, -1) / d_head**0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% wrong: masks by multiplying the finished weights with the mask and does not normalize them again
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    repeats = num_heads // num_kv_heads

    def split(y, heads):
        return y.view(B, L, heads, d_head).transpose(1, 2)

    q = split(x @ W_q.T, num_heads)
    k = repeat_kv(split(x @ W_k.T, num_kv_heads), repeats)
    v = repeat_kv(split(x @ W_v.T, num_kv_heads), repeats)
    weights = (q @ k.transpose(-2, -1) / d_head**0.5).softmax(dim=-1) * mask
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% two mistakes: leaves out the output projection W_o; and blocks where the mask is True
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d_head).transpose(1, 2)
    k = (x @ W_k.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    v = (x @ W_v.T).view(B, L, num_kv_heads, d_head).transpose(1, 2)
    k, v = (repeat_kv(t, num_heads // num_kv_heads) for t in (k, v))
    scores = q @ k.transpose(-2, -1) / d_head**0.5
    weights = scores.masked_fill(mask, -1e9).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model)


# %% right: a loop over the query heads that slices the rows of the weight matrices and adds up the heads' shares of the output
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d = d_model // num_heads
    full = mask.expand(B, num_heads, L, L)
    out = torch.zeros_like(x)
    for h in range(num_heads):
        j = h // (num_heads // num_kv_heads)
        q = x @ W_q[h * d : (h + 1) * d].T
        k = x @ W_k[j * d : (j + 1) * d].T
        v = x @ W_v[j * d : (j + 1) * d].T
        scores = torch.bmm(q, k.mT) / d**0.5
        weights = torch.softmax(scores.masked_fill(~full[:, h], float("-inf")), dim=-1)
        out = out + torch.bmm(weights, v) @ W_o[:, h * d : (h + 1) * d].T
    return out


# %% right: einsum with a group axis and no repeated keys, the mask expanded first and split into groups
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d, G = d_model // num_heads, num_heads // num_kv_heads
    wq = W_q.reshape(num_kv_heads, G, d, d_model)
    wk, wv = W_k.reshape(num_kv_heads, d, d_model), W_v.reshape(num_kv_heads, d, d_model)
    wo = W_o.reshape(d_model, num_kv_heads, G, d)
    q = torch.einsum("blm,jgdm->bjgld", x, wq) * d**-0.5
    k = torch.einsum("blm,jdm->bjld", x, wk)
    v = torch.einsum("blm,jdm->bjld", x, wv)
    allowed = mask.expand(B, num_heads, L, L).reshape(B, num_kv_heads, G, L, L)
    scores = torch.einsum("bjgqd,bjkd->bjgqk", q, k)
    weights = torch.where(allowed, scores, torch.finfo(scores.dtype).min).softmax(-1)
    return torch.einsum("bjgqk,bjkd,mjgd->bqm", weights, v, wo)


# %% right: turns W_k and W_v into full multi-head matrices first, and writes the softmax out with exp and a sum
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    rows = torch.arange(d_model, device=x.device)
    head, inside = rows // d_head, rows % d_head
    source = head // (num_heads // num_kv_heads) * d_head + inside  # the row that each row of the large matrix copies
    q, k, v = (
        torch.nn.functional.linear(x, W).unflatten(-1, (num_heads, d_head)).permute(0, 2, 1, 3)
        for W in (W_q, W_k[source], W_v[source])
    )
    scores = (q @ k.transpose(2, 3)) / torch.tensor(d_head, dtype=x.dtype).sqrt()
    scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    powers = (scores - scores.amax(dim=-1, keepdim=True).detach()).exp()
    out = (powers @ v) / powers.sum(dim=-1, keepdim=True)
    return out.permute(0, 2, 1, 3).flatten(2) @ W_o.t()


# %% wrong: named in the review: cuts the gradient of W_q only
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    W_q = W_q.detach()
    B, L, d_model = x.shape
    d = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    weights = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% wrong: named in the review: cuts the gradient of W_k only
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    W_k = W_k.detach()
    B, L, d_model = x.shape
    d = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    weights = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% wrong: named in the review: cuts the gradient of W_v only
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    W_v = W_v.detach()
    B, L, d_model = x.shape
    d = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    weights = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% wrong: named in the review: cuts the gradient of W_o only
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    W_o = W_o.detach()
    B, L, d_model = x.shape
    d = d_model // num_heads
    q = (x @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = repeat_kv((x @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    weights = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T


# %% wrong: named in the review: queries and keys from x without gradient, so that x gets the share of the values alone
def grouped_query_attention(x, W_q, W_k, W_v, W_o, num_heads, num_kv_heads, mask):
    B, L, d_model = x.shape
    d = d_model // num_heads
    q = (x.detach() @ W_q.T).view(B, L, num_heads, d).transpose(1, 2)
    k = repeat_kv((x.detach() @ W_k.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    v = repeat_kv((x @ W_v.T).view(B, L, num_kv_heads, d).transpose(1, 2), num_heads // num_kv_heads)
    weights = (q @ k.mT / d**0.5).masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, L, d_model) @ W_o.T
