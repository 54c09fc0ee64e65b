# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% wrong: scores[..., top_k:] = -inf without asking whether top_k is None, which hides everything
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    scores, ids = (logits / temperature).sort(dim=-1, descending=True, stable=True)
    scores[..., top_k:] = float("-inf")
    values = scores.softmax(dim=-1)
    if top_p is not None:
        reached = values.cumsum(dim=-1) - values >= top_p
        reached[:, 0] = False
        values = values.masked_fill(reached, 0)
        values = values / values.sum(dim=-1, keepdim=True)
    return torch.zeros_like(values).scatter(-1, ids, values)

# %% wrong: does not renormalize after top-k at all, only after top-p
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    p = (logits / temperature).softmax(dim=-1)
    values, ids = p.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        values = values.clone()
        values[:, top_k:] = 0
    if top_p is not None:
        reached = values.cumsum(dim=-1) - values >= top_p
        reached[:, 0] = False
        values = values.masked_fill(reached, 0)
        values = values / values.sum(dim=-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, ids, values)

# %% wrong: sort gets the axis by position together with stable=True, and stops
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), V).to(logits.dtype)
    p = (logits / temperature).softmax(-1)
    p, ids = p.sort(-1, descending=True, stable=True)
    return torch.zeros_like(p).scatter(-1, ids, p)

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

# %% right: tokens are left out by setting their logits to minus infinity and taking the softmax again
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return torch.zeros_like(logits).scatter_(1, logits.argmax(dim=1, keepdim=True), 1.0)
    scaled = logits / temperature
    order = scaled.softmax(dim=-1).argsort(dim=-1, descending=True, stable=True)
    rank = order.argsort(dim=-1)  # (B, V): 0 for the most probable token
    if top_k is not None:
        scaled = scaled.masked_fill(rank >= top_k, -torch.inf)
    if top_p is not None:
        ordered = scaled.softmax(dim=-1).gather(-1, order)
        short = (ordered.cumsum(dim=-1) < top_p).sum(dim=-1, keepdim=True)  # so many do not reach top_p
        scaled = scaled.masked_fill(rank > short, -torch.inf)
    return scaled.softmax(dim=-1)

# %% right: one column of the sorted table at a time, with a running sum, and the sorting undone by an inverse permutation
def next_token_distribution(logits, temperature, top_k, top_p):
    B, V = logits.shape
    if temperature == 0:
        best = logits.sort(dim=1, descending=True, stable=True).indices[:, :1]
        return (torch.arange(V, device=logits.device) == best).to(logits.dtype)
    probs, order = F.softmax(logits / temperature, dim=1).sort(dim=1, descending=True, stable=True)
    k = V if top_k is None else min(top_k, V)
    probs = probs[:, :k] / probs[:, :k].sum(dim=1, keepdim=True)
    if top_p is not None:
        reached = torch.zeros_like(probs[:, 0])
        columns = [probs[:, 0]]
        for column in range(1, k):
            reached = reached + probs[:, column - 1]
            columns.append(torch.where(reached < top_p, probs[:, column], torch.zeros_like(reached)))
        probs = torch.stack(columns, dim=1)
        probs = probs / probs.sum(dim=1, keepdim=True)
    return F.pad(probs, (0, V - k)).gather(1, order.argsort(dim=1))

# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

# %% two mistakes: compares top_p with the probabilities before top_k, not renormalized; and lets the token that reaches top_p exactly not suffice, so that one more stays
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    values, ids = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    out = torch.zeros_like(values, dtype=torch.bool)
    if top_p is not None:
        out = values.cumsum(dim=-1) - values > top_p
    if top_k is not None:
        out = out | (torch.arange(V) >= top_k)
    values = values.masked_fill(out, 0.0)
    return torch.zeros_like(logits).scatter(-1, ids, values / values.sum(dim=-1, keepdim=True))

# %% setup
import math
import torch

# %% right: ranks by counting better tokens, no sort
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    i = torch.arange(V)
    a, b = logits[:, :, None], logits[:, None, :]
    better = (b > a) | ((b == a) & (i[None, :] < i[:, None]))  # (B, V, V): j goes before i
    rank = better.sum(-1)
    if temperature == 0:
        return (rank == 0).to(logits.dtype)
    kept = torch.full_like(logits, -math.inf).where(rank >= (V if top_k is None else top_k), logits / temperature)
    p = kept.softmax(-1)
    if top_p is not None:
        before = (better * p[:, None, :]).sum(-1)
        p = torch.where((before < top_p) | (rank == 0), p, 0)
        p = p / p.sum(-1, keepdim=True)
    return p
