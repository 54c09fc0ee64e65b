# %% setup
import torch


def rope(x, positions, base):
    d_head = x.shape[-1]
    freq = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = positions[:, None] * freq
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


# %% wrong: cuts the key in halves but still puts the turned halves together by stack and flatten, so the key's features stand in another order than the query's; right for d_head 2
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    angle = torch.arange(L_k)[:, None] * 10000.0 ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    cos, sin = angle.cos().to(query.dtype), angle.sin().to(query.dtype)
    cos_q, sin_q = cos[L_k - L_q :], sin[L_k - L_q :]
    a, b = query[..., : d_head // 2], query[..., d_head // 2 :]
    query = torch.cat([a * cos_q - b * sin_q, a * sin_q + b * cos_q], dim=-1)
    a, b = key[..., : d_head // 2], key[..., d_head // 2 :]
    key = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return query @ key.transpose(-2, -1) / d_head**0.5


# %% wrong: turns the keys backwards (by minus their position) so that the angles are meant to subtract; the scores then depend on the sum of the positions
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    positions = torch.arange(L_k)
    q = rope(query, positions[L_k - L_q :], 10000.0)
    k = rope(key, -positions, 10000.0)
    return q @ k.transpose(-2, -1) / d_head**0.5


# %% wrong: turns all queries by the last position L_k - 1, right only for a single query
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    q = rope(query, torch.full((L_q,), L_k - 1), 10000.0)
    k = rope(key, torch.arange(L_k), 10000.0)
    return q @ k.transpose(-2, -1) / d_head**0.5


# %% wrong: the scores are right, but the turned keys are detached as if they came out of a cache, so no gradient reaches key
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    cached_keys = rope(key, torch.arange(L_k), 10000.0).detach()
    q = rope(query, torch.arange(L_k)[L_k - L_q :], 10000.0)
    return q @ cached_keys.transpose(-2, -1) / d_head**0.5


# %% two mistakes: turns neighboring pairs (2i, 2i + 1) in both query and key; and counts the queries' positions from 0 instead of L_k - L_q
def rotary_scores(query, key):
    d_head = query.shape[-1]

    def turn(x):
        freq = 10000.0 ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
        angle = torch.arange(x.shape[-2])[:, None] * freq
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    return turn(query) @ turn(key).transpose(-2, -1) / d_head**0.5


# %% right: turns nothing, but weights products of features by the cosine and sine of the distance of each query and key
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    distance = torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)
    freq = 10000.0 ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = distance[..., None] * freq  # (L_q, L_k, d_head / 2)
    cos, sin = angle.cos().to(query.dtype), angle.sin().to(query.dtype)
    (qa, qb), (ka, kb) = query.chunk(2, dim=-1), key.chunk(2, dim=-1)
    along = torch.einsum("bhmp,bhnp,mnp->bhmn", qa, ka, cos) + torch.einsum("bhmp,bhnp,mnp->bhmn", qb, kb, cos)
    across = torch.einsum("bhmp,bhnp,mnp->bhmn", qa, kb, sin) - torch.einsum("bhmp,bhnp,mnp->bhmn", qb, ka, sin)
    return (along + across) / d_head**0.5


# %% right: complex vectors, the real part of turned queries times conjugated turned keys
def rotary_scores(query, key):
    L_q, L_k, half = query.shape[-2], key.shape[-2], query.shape[-1] // 2
    theta = torch.arange(L_k).double().outer(10000.0 ** (-torch.arange(half, dtype=torch.float64) / half))
    unit = torch.polar(torch.ones_like(theta), theta)
    q = torch.complex(*query.double().split(half, dim=-1)) * unit[L_k - L_q :]
    k = torch.complex(*key.double().split(half, dim=-1)) * unit
    return ((q @ k.mH).real / (2 * half) ** 0.5).to(query.dtype)
