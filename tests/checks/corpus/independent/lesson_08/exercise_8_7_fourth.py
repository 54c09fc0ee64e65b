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


# %% right: the broken function with the key's pairs mended
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * frequency
    cos_q, sin_q = angle[L_k - L_q :].cos(), angle[L_k - L_q :].sin()
    a, b = query[..., : d_head // 2], query[..., d_head // 2 :]
    query = torch.cat([a * cos_q - b * sin_q, a * sin_q + b * cos_q], dim=-1)
    cos_k, sin_k = angle.cos(), angle.sin()
    a, b = key[..., : d_head // 2], key[..., d_head // 2 :]
    key = torch.cat([a * cos_k - b * sin_k, a * sin_k + b * cos_k], dim=-1)
    return query @ key.transpose(-2, -1) / d_head**0.5


# %% right: one complex product
def rotary_scores(query, key):
    L_q, L_k, d = query.shape[2], key.shape[2], query.shape[3]
    angle = torch.arange(L_k)[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
    spin = torch.polar(torch.ones_like(angle), angle)
    q = torch.complex(*query.chunk(2, -1)) * spin[L_k - L_q :]
    k = torch.complex(*key.chunk(2, -1)) * spin
    return (q @ k.mH).real / d**0.5


# %% wrong: the broken function's pairs of neighbors for both
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    q = turn_neighbors(query, torch.arange(L_k - L_q, L_k))
    k = turn_neighbors(key, torch.arange(L_k))
    return q @ k.mT / query.shape[-1] ** 0.5


# %% wrong: the key's features joined by cat, but still cut out as neighbors
def rotary_scores(query, key):
    L_q, L_k, d = query.shape[-2], key.shape[-2], query.shape[-1]
    angle = torch.arange(L_k)[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
    a, b = key[..., 0::2], key[..., 1::2]
    k = torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)
    return turn(query, torch.arange(L_k - L_q, L_k)) @ k.mT / d**0.5


# %% wrong: queries counted from 0
def rotary_scores(query, key):
    q, k = turn(query, torch.arange(query.shape[-2])), turn(key, torch.arange(key.shape[-2]))
    return q @ k.mT / query.shape[-1] ** 0.5


# %% wrong: not divided by the root
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    return turn(query, torch.arange(L_k - L_q, L_k)) @ turn(key, torch.arange(L_k)).mT


# %% wrong: the keys turned the other way
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    return turn(query, torch.arange(L_k - L_q, L_k)) @ turn(key, -torch.arange(L_k)).mT / query.shape[-1] ** 0.5
