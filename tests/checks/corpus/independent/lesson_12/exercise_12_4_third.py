# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: keeps all tokens that are as probable as the one at place top_k, so with ties there are more than top_k
def next_token_distribution(logits, temperature, top_k, top_p):
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    p = (logits / temperature).softmax(dim=-1)
    if top_k is not None and top_k < p.shape[-1]:
        p = p.where(p >= p.topk(top_k, dim=-1).values[:, -1:], 0.0)
        p = p / p.sum(dim=-1, keepdim=True)
    if top_p is not None:
        values, ids = p.sort(dim=-1, descending=True, stable=True)
        out = values.cumsum(dim=-1) - values >= top_p
        out[:, 0] = False
        p = torch.zeros_like(p).scatter(-1, ids, values.masked_fill(out, 0.0))
        p = p / p.sum(dim=-1, keepdim=True)
    return p


# %% wrong: sorts upwards and turns the order round, so of equally probable tokens the higher id comes first
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    values, ids = (logits / temperature).softmax(dim=-1).sort(dim=-1, stable=True)
    values, ids = values.flip(-1), ids.flip(-1)
    if top_k is not None:
        values = values.masked_fill(torch.arange(V) >= top_k, 0.0)
        values = values / values.sum(dim=-1, keepdim=True)
    if top_p is not None:
        out = values.cumsum(dim=-1) - values >= top_p
        out[:, 0] = False
        values = values.masked_fill(out, 0.0)
        values = values / values.sum(dim=-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, ids, values)


# %% wrong: asks whether top_p is true, so a top_p of 0 keeps all tokens instead of the most probable one
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), V).to(logits.dtype)
    values, ids = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    if top_k:
        values = values.masked_fill(torch.arange(V) >= top_k, 0.0)
        values = values / values.sum(dim=-1, keepdim=True)
    if top_p:
        values = values.masked_fill(values.cumsum(dim=-1) - values >= top_p, 0.0)
        values = values / values.sum(dim=-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, ids, values)


# %% wrong: takes a tiny temperature for 0, so equally probable best tokens share the probability
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    if temperature == 0:
        temperature, top_k, top_p = 1e-6, None, None
    values, ids = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        values = values.masked_fill(torch.arange(V) >= top_k, 0.0)
        values = values / values.sum(dim=-1, keepdim=True)
    if top_p is not None:
        out = values.cumsum(dim=-1) - values >= top_p
        out[:, 0] = False
        values = values.masked_fill(out, 0.0)
        values = values / values.sum(dim=-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, ids, values)


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


# %% right: goes through each row in Python: a sorted list of ids, cut twice
def next_token_distribution(logits, temperature, top_k, top_p):
    result = torch.zeros_like(logits)
    for row, target in zip(logits, result, strict=True):
        if temperature == 0:
            target[int(row.argmax())] = 1.0
            continue
        p = torch.softmax(row / temperature, dim=0)
        ids = sorted(range(len(row)), key=lambda v: (-p[v].item(), v))[:top_k]
        total = sum(p[v].item() for v in ids)
        if top_p is not None:
            kept, reached = [], 0.0
            for v in ids:
                kept.append(v)
                reached += p[v].item() / total
                if reached >= top_p:
                    break
            ids = kept
        total = sum(p[v].item() for v in ids)
        for v in ids:
            target[v] = p[v].item() / total
    return result


# %% right: compares all pairs of tokens instead of sorting: how many come before each, and how much probability they have
def next_token_distribution(logits, temperature, top_k, top_p):
    V = logits.shape[-1]
    lower_id = torch.ones(V, V, dtype=torch.bool).tril(diagonal=-1)  # [v, u]: u < v
    p = torch.softmax(logits / (temperature or 1), dim=-1)
    mine, other = p[:, :, None], p[:, None, :]
    before = (other > mine) | ((other == mine) & lower_id)  # (B, V, V): u comes before v
    rank = before.sum(dim=-1)
    if temperature == 0:
        mine, other = logits[:, :, None], logits[:, None, :]
        return (~((other > mine) | ((other == mine) & lower_id)).any(dim=-1)).to(logits.dtype)
    if top_k is not None:
        p = p * (rank < top_k)
        p = p / p.sum(dim=-1, keepdim=True)
    if top_p is not None:
        reached = torch.einsum("bvu,bu->bv", before.to(p.dtype), p)
        p = p * ((reached < top_p) | (rank == 0))
        p = p / p.sum(dim=-1, keepdim=True)
    return p
