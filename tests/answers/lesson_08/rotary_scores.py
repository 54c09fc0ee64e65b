# %% setup
import torch


def turn(x, pos, base=10000.0):
    d = x.shape[-1]
    a = pos[:, None] * base ** (-torch.arange(0, d, 2) / d)
    p, q = x.chunk(2, -1)
    return torch.cat([p * a.cos() - q * a.sin(), p * a.sin() + q * a.cos()], -1)


def turn_neighbors(x, pos, base=10000.0):
    d = x.shape[-1]
    a = pos[:, None] * base ** (-torch.arange(0, d, 2) / d)
    p, q = x[..., 0::2], x[..., 1::2]
    return torch.stack([p * a.cos() - q * a.sin(), p * a.sin() + q * a.cos()], -1).flatten(-2)

# %% wrong: the broken function's pairs of neighbors for both
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    q = turn_neighbors(query, torch.arange(L_k - L_q, L_k))
    k = turn_neighbors(key, torch.arange(L_k))
    return q @ k.mT / query.shape[-1] ** 0.5

# %% wrong: not divided by the root
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    return turn(query, torch.arange(L_k - L_q, L_k)) @ turn(key, torch.arange(L_k)).mT

# %% setup
import torch

def rope(x, positions, base):
    half = x.shape[-1] // 2
    omega = base ** (-torch.arange(half, dtype=x.dtype) / half)
    angle = positions.to(x.dtype)[:, None] * omega
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% right: keys stand at negative distances from the last token (0 for the last), which changes no score
def rotary_scores(query, key):
    q = rope(query, torch.arange(1 - query.shape[-2], 1), 10000.0)
    k = rope(key, torch.arange(1 - key.shape[-2], 1), 10000.0)
    return torch.einsum("bhqd,bhkd->bhqk", q, k).div(query.shape[-1] ** 0.5)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def rope(x, positions, base):
    d = x.shape[-1]
    angle = positions[:, None].double() * float(base) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% wrong: puts the queries at positions 0 to L_q - 1 instead of the last ones; right only if L_q equals L_k
def rotary_scores(query, key):
    q = rope(query, torch.arange(query.shape[-2]), 10000.0)
    k = rope(key, torch.arange(key.shape[-2]), 10000.0)
    return q @ k.transpose(-2, -1) / query.shape[-1] ** 0.5

# %% wrong: turns a detached copy of the keys, so no gradient reaches key
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    with torch.no_grad():
        k = rope(key, torch.arange(L_k), 10000.0)
    q = rope(query, torch.arange(L_k - L_q, L_k), 10000.0)
    return q @ k.mT / query.shape[-1] ** 0.5

# %% two mistakes: each query stands one position too early; and the scores are not divided by the root of d_head
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    q = rope(query, torch.arange(L_k - L_q, L_k) - 1, 10000.0)
    k = rope(key, torch.arange(L_k), 10000.0)
    return q @ k.transpose(-2, -1)

# %% right: turns nothing, but computes each score from the distance with cos and sin of the difference
def rotary_scores(query, key):
    L_q, L_k, d = query.shape[-2], key.shape[-2], query.shape[-1]
    distance = torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)
    omega = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = distance[..., None] * omega  # (L_q, L_k, d / 2)
    cos, sin = angle.cos().to(query.dtype), angle.sin().to(query.dtype)
    qa, qb = query[..., :, None, : d // 2], query[..., :, None, d // 2 :]
    ka, kb = key[..., None, :, : d // 2], key[..., None, :, d // 2 :]
    scores = ((qa * ka + qb * kb) * cos + (qa * kb - qb * ka) * sin).sum(dim=-1)
    return scores / d**0.5

# %% setup
import torch


def rope(x, positions, base):
    d_head = x.shape[-1]
    freq = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = positions[:, None] * freq
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

# %% right: complex vectors, the real part of turned queries times conjugated turned keys
def rotary_scores(query, key):
    L_q, L_k, half = query.shape[-2], key.shape[-2], query.shape[-1] // 2
    theta = torch.arange(L_k).double().outer(10000.0 ** (-torch.arange(half, dtype=torch.float64) / half))
    unit = torch.polar(torch.ones_like(theta), theta)
    q = torch.complex(*query.double().split(half, dim=-1)) * unit[L_k - L_q :]
    k = torch.complex(*key.double().split(half, dim=-1)) * unit
    return ((q @ k.mH).real / (2 * half) ** 0.5).to(query.dtype)
