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


# %% wrong: turns queries as well as keys in neighboring pairs (2i, 2i + 1), relative but not the pairs asked for
def rotary_scores(query, key):
    def turn(x, positions):
        d = x.shape[-1]
        angle = positions[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
        cos, sin = angle.cos(), angle.sin()
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    L_q, L_k = query.shape[-2], key.shape[-2]
    q, k = turn(query, torch.arange(L_k - L_q, L_k)), turn(key, torch.arange(L_k))
    return q @ k.transpose(-2, -1) / query.shape[-1] ** 0.5


# %% wrong: puts the queries at positions 0 to L_q - 1 instead of the last ones; right only if L_q equals L_k
def rotary_scores(query, key):
    q = rope(query, torch.arange(query.shape[-2]), 10000.0)
    k = rope(key, torch.arange(key.shape[-2]), 10000.0)
    return q @ k.transpose(-2, -1) / query.shape[-1] ** 0.5


# %% wrong: turns the keys the other way round (negative positions), so scores depend on the sum of the positions
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    positions = torch.arange(L_k)
    q = rope(query, positions[L_k - L_q:], 10000.0)
    k = rope(key, -positions, 10000.0)
    return torch.einsum("bhqd,bhkd->bhqk", q, k) / query.shape[-1] ** 0.5


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


# %% right: counts positions from the last one backward, which is allowed as only differences matter; complex numbers
def rotary_scores(query, key):
    d = query.shape[-1]
    omega = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)

    def turn(x):
        angle = torch.outer(torch.arange(1 - x.shape[-2], 1, dtype=torch.float64), omega)
        z = torch.complex(*x.double().chunk(2, dim=-1)) * torch.polar(torch.ones_like(angle), angle)
        return z

    q, k = turn(query), turn(key)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k.conj()).real / d**0.5
    return scores.to(query.dtype)
