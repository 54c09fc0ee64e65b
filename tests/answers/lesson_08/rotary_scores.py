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

# %% wrong: the view is mended with a clone, but queries keep the positions 0 to L_q - 1
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    turned_key = torch.empty_like(key)
    a, b = key[..., 0::2], key[..., 1::2]
    turned_key[..., 0::2] = a * cos - b * sin
    turned_key[..., 1::2] = a * sin + b * cos
    cos, sin = cos[:L_q], sin[:L_q]
    turned_query = torch.empty_like(query)
    a, b = query[..., 0::2], query[..., 1::2]
    turned_query[..., 0::2] = a * cos - b * sin
    turned_query[..., 1::2] = a * sin + b * cos
    return turned_query @ turned_key.transpose(-2, -1) / d_head**0.5

# %% wrong: the positions are mended, the view is not: the second number of a query's pair is computed from the first one's new value
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    turned_key = torch.empty_like(key)
    a, b = key[..., 0::2], key[..., 1::2]
    turned_key[..., 0::2] = a * cos - b * sin
    turned_key[..., 1::2] = a * sin + b * cos
    cos, sin = cos[-L_q:], sin[-L_q:]
    turned_query = query.clone()
    a, b = turned_query[..., 0::2], turned_query[..., 1::2]
    turned_query[..., 0::2] = a * cos - b * sin
    turned_query[..., 1::2] = a * sin + b * cos
    return turned_query @ turned_key.transpose(-2, -1) / d_head**0.5

# %% wrong: the slice starts one row too early, cos[L_k - L_q - 1 : L_k - 1], so queries are one position behind
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    first = L_k - L_q - 1
    def turn(x, positions):
        angle = positions[:, None] * frequency
        cos, sin = angle.cos(), angle.sin()
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    q = turn(query, torch.arange(first, first + L_q))
    k = turn(key, torch.arange(L_k))
    return q @ k.transpose(-2, -1) / d_head**0.5

# %% wrong: both faults mended, but by pairs of halves as in 8.3
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    def turn(x, positions):
        angle = positions[:, None] * frequency
        cos, sin = angle.cos(), angle.sin()
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    q = turn(query, torch.arange(L_k - L_q, L_k))
    k = turn(key, torch.arange(L_k))
    return q @ k.transpose(-2, -1) / d_head**0.5

# %% wrong: turns right, but writes into the query it was given and cuts its gradient
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    turned_key = torch.empty_like(key)
    a, b = key[..., 0::2], key[..., 1::2]
    turned_key[..., 0::2] = a * cos - b * sin
    turned_key[..., 1::2] = a * sin + b * cos
    cos, sin = cos[-L_q:], sin[-L_q:]
    turned_query = query.detach()
    a, b = turned_query[..., 0::2].clone(), turned_query[..., 1::2].clone()
    turned_query[..., 0::2] = a * cos - b * sin
    turned_query[..., 1::2] = a * sin + b * cos
    return turned_query @ turned_key.transpose(-2, -1) / d_head**0.5

# %% wrong: the query turns the other way, as if the two turns had to cancel
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    def turn(x, angle):
        cos, sin = angle.cos(), angle.sin()
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    angle = torch.arange(L_k)[:, None] * frequency
    return turn(query, -angle[-L_q:]) @ turn(key, angle).transpose(-2, -1) / d_head**0.5

# %% wrong: makes the keys' lines like the queries' instead of the other way round, so both overwrite a view; the positions are mended
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    turned_key = key.clone()
    a, b = turned_key[..., 0::2], turned_key[..., 1::2]
    turned_key[..., 0::2] = a * cos - b * sin
    turned_key[..., 1::2] = a * sin + b * cos
    cos, sin = cos[L_k - L_q :], sin[L_k - L_q :]
    turned_query = query.clone()
    a, b = turned_query[..., 0::2], turned_query[..., 1::2]
    turned_query[..., 0::2] = a * cos - b * sin
    turned_query[..., 1::2] = a * sin + b * cos
    return turned_query @ turned_key.transpose(-2, -1) / d_head**0.5

# %% wrong: mended, but the division by the root of d_head is lost
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * frequency
    def turn(x, cos, sin):
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    q = turn(query, angle.cos()[-L_q:], angle.sin()[-L_q:])
    k = turn(key, angle.cos(), angle.sin())
    return q @ k.transpose(-2, -1)

# %% wrong: stacks the turned pairs as halves for the queries only, so they no longer match the keys
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    a, b = key[..., 0::2], key[..., 1::2]
    k = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    cos, sin = cos[-L_q:], sin[-L_q:]
    a, b = query[..., 0::2], query[..., 1::2]
    q = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return q @ k.transpose(-2, -1) / d_head**0.5

# %% wrong: turns a detached copy of the keys, so no gradient reaches key
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    with torch.no_grad():
        k = turn_neighbors(key, torch.arange(L_k))
    q = turn_neighbors(query, torch.arange(L_k - L_q, L_k))
    return q @ k.mT / query.shape[-1] ** 0.5

# %% two mistakes: queries keep the positions 0 to L_q - 1; and pairs are halves instead of neighbors
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    def turn(x):
        angle = torch.arange(x.shape[-2])[:, None] * frequency
        cos, sin = angle.cos(), angle.sin()
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return turn(query) @ turn(key).transpose(-2, -1) / d_head**0.5

# %% two mistakes: the view is not mended; and the scores are not divided by the root of d_head
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    turned_key = torch.empty_like(key)
    a, b = key[..., 0::2], key[..., 1::2]
    turned_key[..., 0::2] = a * cos - b * sin
    turned_key[..., 1::2] = a * sin + b * cos
    cos, sin = cos[-L_q:], sin[-L_q:]
    turned_query = query.clone()
    a, b = turned_query[..., 0::2], turned_query[..., 1::2]
    turned_query[..., 0::2] = a * cos - b * sin
    turned_query[..., 1::2] = a * sin + b * cos
    return turned_query @ turned_key.transpose(-2, -1)

# %% right: the four lines with a and b from query itself, and the last rows of the table
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    frequency = base ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    turned_key = torch.empty_like(key)
    a, b = key[..., 0::2], key[..., 1::2]
    turned_key[..., 0::2] = a * cos - b * sin
    turned_key[..., 1::2] = a * sin + b * cos
    cos, sin = cos[L_k - L_q :], sin[L_k - L_q :]
    turned_query = query.clone()
    a, b = query[..., 0::2], query[..., 1::2]
    turned_query[..., 0::2] = a * cos - b * sin
    turned_query[..., 1::2] = a * sin + b * cos
    return turned_query @ turned_key.transpose(-2, -1) / d_head**0.5

# %% right: complex numbers, the real part of turned query times conjugate key
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    freq = base ** (-torch.arange(0, d_head, 2) / d_head)
    angle = torch.arange(L_k)[:, None] * freq
    turn = torch.polar(torch.ones_like(angle), angle)
    zq = torch.view_as_complex(query.unflatten(-1, (-1, 2)).contiguous()) * turn[L_k - L_q :]
    zk = torch.view_as_complex(key.unflatten(-1, (-1, 2)).contiguous()) * turn
    return (zq @ zk.conj().transpose(-2, -1)).real / d_head**0.5

# %% right: turns nothing: cosine and sine of the distance times the dot and cross products of the pairs
def rotary_scores(query, key, base=10000.0):
    L_q, L_k, d = query.shape[-2], key.shape[-2], query.shape[-1]
    freq = base ** (-torch.arange(0, d, 2) / d)
    dist = torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)
    angle = dist[..., None] * freq
    q0, q1 = query[..., :, None, 0::2], query[..., :, None, 1::2]
    k0, k1 = key[..., None, :, 0::2], key[..., None, :, 1::2]
    dot = q0 * k0 + q1 * k1
    cross = q0 * k1 - q1 * k0
    return (dot * angle.cos() + cross * angle.sin()).sum(-1) / d**0.5
