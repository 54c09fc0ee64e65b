# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles


# %% wrong: the token that crosses top_p is dropped: only tokens whose sum stays at or below top_p (and the first) are kept
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    probs = (logits / temperature).softmax(dim=-1)
    probs, ids = probs.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        probs[:, top_k:] = 0.0
        probs = probs / probs.sum(dim=-1, keepdim=True)
    if top_p is not None:
        reached = probs.cumsum(dim=-1)
        drop = reached > top_p
        drop[:, 0] = False
        probs = probs.masked_fill(drop, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, ids, probs)


# %% wrong: top-p comes before top-k
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    probs = (logits / temperature).softmax(dim=-1)
    probs, ids = probs.sort(dim=-1, descending=True, stable=True)
    if top_p is not None:
        reached = probs.cumsum(dim=-1)
        before = F.pad(reached, (1, 0))[:, :-1]  # of all more probable ones
        drop = before >= top_p
        drop[:, 0] = False
        probs = probs.masked_fill(drop, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    if top_k is not None:
        probs[:, top_k:] = 0.0
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, ids, probs)


# %% wrong: the probabilities are not renormalized between top-k and top-p, so top_p is compared with sums that are too small
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    probs = (logits / temperature).softmax(dim=-1)
    probs, ids = probs.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        probs[:, top_k:] = 0.0
    if top_p is not None:
        reached = probs.cumsum(dim=-1)
        before = F.pad(reached, (1, 0))[:, :-1]  # of all more probable ones
        drop = before >= top_p
        drop[:, 0] = False
        probs = probs.masked_fill(drop, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    probs = probs / probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, ids, probs)


# %% wrong: top-k keeps every token that is at least as probable as the k-th, so with ties more than top_k stay
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    probs = (logits / temperature).softmax(dim=-1)
    probs, ids = probs.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        kth = probs[:, min(top_k, V) - 1, None]
        probs = probs.masked_fill(probs < kth, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    if top_p is not None:
        reached = probs.cumsum(dim=-1)
        before = F.pad(reached, (1, 0))[:, :-1]  # of all more probable ones
        drop = before >= top_p
        drop[:, 0] = False
        probs = probs.masked_fill(drop, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, ids, probs)


# %% wrong: top_p = 0 is taken for None (if top_p:), so it keeps all tokens instead of the most probable one
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    probs = (logits / temperature).softmax(dim=-1)
    probs, ids = probs.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        probs[:, top_k:] = 0.0
        probs = probs / probs.sum(dim=-1, keepdim=True)
    if top_p:
        reached = probs.cumsum(dim=-1)
        before = F.pad(reached, (1, 0))[:, :-1]  # of all more probable ones
        drop = before >= top_p
        drop[:, 0] = False
        probs = probs.masked_fill(drop, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, ids, probs)


# %% wrong: the logits are divided by the temperature in place, which changes the caller's logits
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    logits /= temperature
    probs = logits.softmax(dim=-1)
    probs, ids = probs.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        probs[:, top_k:] = 0.0
        probs = probs / probs.sum(dim=-1, keepdim=True)
    if top_p is not None:
        reached = probs.cumsum(dim=-1)
        before = F.pad(reached, (1, 0))[:, :-1]  # of all more probable ones
        drop = before >= top_p
        drop[:, 0] = False
        probs = probs.masked_fill(drop, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, ids, probs)


# %% two mistakes: the logits are multiplied by the temperature instead of divided; and the result is in the order of probability, not of the ids
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    probs = (logits * temperature).softmax(dim=-1)
    probs, ids = probs.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        probs[:, top_k:] = 0.0
        probs = probs / probs.sum(dim=-1, keepdim=True)
    if top_p is not None:
        reached = probs.cumsum(dim=-1)
        before = F.pad(reached, (1, 0))[:, :-1]  # of all more probable ones
        drop = before >= top_p
        drop[:, 0] = False
        probs = probs.masked_fill(drop, 0.0)
        probs = probs / probs.sum(dim=-1, keepdim=True)
    return probs


# %% right: Python lists, one row at a time
def next_token_distribution(logits, temperature, top_k, top_p):
    rows = []
    for row in logits:
        if temperature == 0:
            best = max(range(len(row)), key=lambda i: row[i].item())
            rows.append([float(i == best) for i in range(len(row))])
            continue
        p = torch.softmax((row - row.max()) / temperature, dim=0).tolist()
        order = sorted(range(len(p)), key=lambda i: -p[i])  # stable: lower ids first
        if top_k is not None:
            order = order[:top_k]
        total = sum(p[i] for i in order)
        if top_p is not None:
            kept, reached = [], 0.0
            for i in order:
                kept.append(i)
                reached += p[i] / total
                if reached >= top_p:
                    break
            order, total = kept, sum(p[i] for i in kept)
        rows.append([p[i] / total if i in order else 0.0 for i in range(len(p))])
    return torch.tensor(rows, dtype=logits.dtype)


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


# %% wrong: named in the review: scores[..., top_k:] = -inf without asking whether top_k is None, which hides everything
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


# %% wrong: named in the review: does not renormalize after top-k at all, only after top-p
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


# %% wrong: named in the review: top-k by a threshold that keeps all tokens tied with the k-th
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    p = (logits / temperature).softmax(dim=-1)
    values, ids = p.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        values = values.clone()
        values[values < values[:, min(top_k, values.shape[1]) - 1, None]] = 0
        values = values / values.sum(dim=-1, keepdim=True)
    if top_p is not None:
        reached = values.cumsum(dim=-1) - values >= top_p
        reached[:, 0] = False
        values = values.masked_fill(reached, 0)
        values = values / values.sum(dim=-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, ids, values)


# %% wrong: named in the review: top-p by a threshold on the probability, which keeps all tokens tied with the last one
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    p = (logits / temperature).softmax(dim=-1)
    values, ids = p.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        values = values.clone()
        values[:, top_k:] = 0
        values = values / values.sum(dim=-1, keepdim=True)
    if top_p is not None:
        reached = values.cumsum(dim=-1) - values >= top_p
        reached[:, 0] = False
        lowest = values.masked_fill(reached, 1).amin(dim=-1, keepdim=True)
        values = values.masked_fill(values < lowest, 0)
        values = values / values.sum(dim=-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, ids, values)


# %% wrong: named in the review: topk without stable order: of equally probable tokens any may stay
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    p = (logits / temperature).softmax(dim=-1)
    values, ids = p.topk(p.shape[-1], dim=-1)
    if top_k is not None:
        values = values.clone()
        values[:, top_k:] = 0
        values = values / values.sum(dim=-1, keepdim=True)
    if top_p is not None:
        reached = values.cumsum(dim=-1) - values >= top_p
        reached[:, 0] = False
        values = values.masked_fill(reached, 0)
        values = values / values.sum(dim=-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, ids, values)


# %% wrong: named in the review: of equally probable tokens those with higher ids stay
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    p = (logits / temperature).softmax(dim=-1)
    values, ids = (part.flip(-1) for part in p.sort(dim=-1, stable=True))
    if top_k is not None:
        values = values.clone()
        values[:, top_k:] = 0
        values = values / values.sum(dim=-1, keepdim=True)
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
