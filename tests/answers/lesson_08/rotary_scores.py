# %% setup
import torch


def turn_neighbors(x, pos, base=10000.0):
    d = x.shape[-1]
    a = pos[:, None] * base ** (-torch.arange(0, d, 2) / d)
    p, q = x[..., 0::2], x[..., 1::2]
    return torch.stack([p * a.cos() - q * a.sin(), p * a.sin() + q * a.cos()], -1).flatten(-2)


def turn_halves(x, pos, base=10000.0):
    d = x.shape[-1]
    a = pos[:, None] * base ** (-torch.arange(0, d, 2) / d)
    p, q = x.chunk(2, -1)
    return torch.cat([p * a.cos() - q * a.sin(), p * a.sin() + q * a.cos()], -1)

# %% wrong: the queries have the first positions; right only if L_q equals L_k
def rotary_scores(query, key):
    q = turn_neighbors(query, torch.arange(query.shape[-2]))
    k = turn_neighbors(key, torch.arange(key.shape[-2]))
    return q @ k.mT / query.shape[-1] ** 0.5

# %% wrong: pairs of halves for both
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    q = turn_halves(query, torch.arange(L_k - L_q, L_k))
    k = turn_halves(key, torch.arange(L_k))
    return q @ k.mT / query.shape[-1] ** 0.5

# %% wrong: the last positions, but the odd features are still computed from even ones that are turned already
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = 10000.0 ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    turned_key = torch.empty_like(key)
    a, b = key[..., 0::2], key[..., 1::2]
    turned_key[..., 0::2] = a * cos - b * sin
    turned_key[..., 1::2] = a * sin + b * cos
    cos, sin = cos[L_k - L_q :], sin[L_k - L_q :]
    turned_query = query.clone()
    a, b = turned_query[..., 0::2], turned_query[..., 1::2]
    turned_query[..., 0::2] = a * cos - b * sin
    turned_query[..., 1::2] = a * sin + b * cos
    return turned_query @ turned_key.transpose(-2, -1) / d_head**0.5

# %% wrong: turns a detached copy of the keys, so no gradient reaches key
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    with torch.no_grad():
        k = turn_neighbors(key, torch.arange(L_k))
    q = turn_neighbors(query, torch.arange(L_k - L_q, L_k))
    return q @ k.mT / query.shape[-1] ** 0.5

# %% two mistakes: each query has one position too early; and the scores are not divided by the root of d_head
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    q = turn_neighbors(query, torch.arange(L_k - L_q, L_k) - 1)
    k = turn_neighbors(key, torch.arange(L_k))
    return q @ k.transpose(-2, -1)

# %% right: keys at negative distances from the last token (0 for the last), which changes no score
def rotary_scores(query, key):
    q = turn_neighbors(query, torch.arange(1 - query.shape[-2], 1))
    k = turn_neighbors(key, torch.arange(1 - key.shape[-2], 1))
    return torch.einsum("bhqd,bhkd->bhqk", q, k).div(query.shape[-1] ** 0.5)

# %% right: turns nothing, but computes each score from the distance with cos and sin of the difference
def rotary_scores(query, key):
    L_q, L_k, d = query.shape[-2], key.shape[-2], query.shape[-1]
    distance = torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)
    omega = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = distance[..., None] * omega  # (L_q, L_k, d / 2)
    cos, sin = angle.cos().to(query.dtype), angle.sin().to(query.dtype)
    qa, qb = query[..., :, None, 0::2], query[..., :, None, 1::2]
    ka, kb = key[..., None, :, 0::2], key[..., None, :, 1::2]
    scores = ((qa * ka + qb * kb) * cos + (qa * kb - qb * ka) * sin).sum(dim=-1)
    return scores / d**0.5
