# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% wrong: top-k keeps every token that is as probable as the k-th, so with ties more than top_k tokens stay
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    p = ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)
    if top_k is not None and top_k < p.shape[-1]:
        kth = p.topk(top_k, dim=-1).values[:, -1:]
        p = p.masked_fill(p < kth, 0)
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        s, order = p.sort(dim=-1, descending=True, stable=True)
        before = F.pad(s.cumsum(-1), (1, 0))[:, :-1]
        drop = before >= top_p
        drop[:, 0] = False
        s = s.masked_fill(drop, 0)
        p = torch.zeros_like(p).scatter(-1, order, s)
        p = p / p.sum(-1, keepdim=True)
    return p

# %% wrong: does not renormalize after top-k, so top-p counts the probabilities of before and keeps too many tokens
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    p = ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)
    s, order = p.sort(dim=-1, descending=True, stable=True)
    drop = torch.zeros_like(s, dtype=torch.bool)
    if top_k is not None:
        drop[:, top_k:] = True
    if top_p is not None:
        before = F.pad(s.cumsum(-1), (1, 0))[:, :-1]
        drop |= before >= top_p
    drop[:, 0] = False
    s = s.masked_fill(drop, 0)
    s = s / s.sum(-1, keepdim=True)
    return torch.zeros_like(s).scatter(-1, order, s)

# %% wrong: if the sum is exactly top_p, one more token is kept (the sum must exceed top_p instead of reaching it)
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    p = ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)
    s, order = p.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        s[:, top_k:] = 0
        s = s / s.sum(-1, keepdim=True)
    if top_p is not None:
        before = F.pad(s.cumsum(-1), (1, 0))[:, :-1]
        s = s.masked_fill(before > top_p, 0)
        s = s / s.sum(-1, keepdim=True)
    return torch.zeros_like(s).scatter(-1, order, s)

# %% wrong: at temperature 0 the probability is split evenly among all tokens with the largest logit instead of going to the first
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        best = (logits == logits.amax(-1, keepdim=True)).to(logits.dtype)
        return best / best.sum(-1, keepdim=True)
    p = ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)
    s, order = p.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        s[:, top_k:] = 0
        s = s / s.sum(-1, keepdim=True)
    if top_p is not None:
        drop = F.pad(s.cumsum(-1), (1, 0))[:, :-1] >= top_p
        drop[:, 0] = False
        s = s.masked_fill(drop, 0)
        s = s / s.sum(-1, keepdim=True)
    return torch.zeros_like(s).scatter(-1, order, s)

# %% two mistakes: multiplies the logits by the temperature instead of dividing; and drops the token that crosses top_p (the first always stays)
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    p = (logits * temperature).softmax(-1)
    s, order = p.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        s[:, top_k:] = 0
        s = s / s.sum(-1, keepdim=True)
    if top_p is not None:
        drop = s.cumsum(-1) > top_p
        drop[:, 0] = False
        s = s.masked_fill(drop, 0)
        s = s / s.sum(-1, keepdim=True)
    return torch.zeros_like(s).scatter(-1, order, s)

# %% right: row by row in Python with sorted and a running sum
def next_token_distribution(logits, temperature, top_k, top_p):
    out = torch.zeros_like(logits)
    for b, row in enumerate(logits):
        if temperature == 0:
            values = row.tolist()
            out[b, values.index(max(values))] = 1
            continue
        p = torch.softmax((row - row.max()) / temperature, dim=-1)
        order = sorted(range(len(p)), key=lambda i: (-p[i].item(), i))
        kept = order if top_k is None else order[:top_k]
        p = p / p[kept].sum()
        if top_p is not None:
            total, n = torch.zeros((), dtype=p.dtype), 0
            while n < len(kept) and (n == 0 or total < top_p):
                total = total + p[kept[n]]
                n += 1
            kept = kept[:n]
        out[b, kept] = p[kept] / p[kept].sum()
    return out

# %% right: works on ranks from a double argsort of the negated probabilities
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        first = logits.neg().argsort(dim=-1, stable=True)[:, 0]
        return torch.eye(V, dtype=logits.dtype)[first]
    p = torch.softmax((logits - logits.max(-1, keepdim=True).values) / temperature, -1)
    order = p.neg().argsort(dim=-1, stable=True)
    rank = order.argsort(dim=-1)
    if top_k is not None:
        p = torch.where(rank < top_k, p, torch.zeros_like(p))
        p = p / p.sum(-1, keepdim=True)
    if top_p is not None:
        n = (p.gather(-1, order).cumsum(-1) < top_p).sum(-1, keepdim=True) + 1
        p = p * (rank < n)
        p = p / p.sum(-1, keepdim=True)
    return p
