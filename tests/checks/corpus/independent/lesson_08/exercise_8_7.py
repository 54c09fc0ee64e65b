# %% setup
import torch

def rope(x, positions, base):
    half = x.shape[-1] // 2
    omega = base ** (-torch.arange(half, dtype=x.dtype) / half)
    angle = positions.to(x.dtype)[:, None] * omega
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


# %% wrong: uses neighboring features as pairs for queries and keys alike, instead of (i, i + d_head / 2)
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    angle = torch.arange(L_k)[:, None] * 10000.0 ** (-torch.arange(0, d_head, 2, dtype=query.dtype) / d_head)

    def turn(x, angle):
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1).flatten(-2)

    return turn(query, angle[L_k - L_q :]) @ turn(key, angle).transpose(-2, -1) / d_head**0.5


# %% wrong: puts the queries at positions 0 to L_q - 1 instead of the last L_q, which is right only for L_q equal to L_k
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    q = rope(query, torch.arange(L_q), 10000.0)
    k = rope(key, torch.arange(L_k), 10000.0)
    return q @ k.transpose(-2, -1) / query.shape[-1] ** 0.5


# %% wrong: takes the halves of the keys correctly but still joins them interleaved, so the order of the features does not fit that of the queries
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    angle = torch.arange(L_k)[:, None] * 10000.0 ** (-torch.arange(0, d_head, 2, dtype=query.dtype) / d_head)
    cos_q, sin_q = angle[L_k - L_q :].cos(), angle[L_k - L_q :].sin()
    a, b = query[..., : d_head // 2], query[..., d_head // 2 :]
    query = torch.cat([a * cos_q - b * sin_q, a * sin_q + b * cos_q], dim=-1)
    cos_k, sin_k = angle.cos(), angle.sin()
    a, b = key[..., : d_head // 2], key[..., d_head // 2 :]
    key = torch.stack([a * cos_k - b * sin_k, a * sin_k + b * cos_k], dim=-1).flatten(-2)
    return query @ key.transpose(-2, -1) / d_head**0.5


# %% wrong: turns the keys in the opposite direction, so the scores depend on the sum of the positions
def rotary_scores(query, key):
    L_q, L_k = query.shape[-2], key.shape[-2]
    q = rope(query, torch.arange(L_k - L_q, L_k), 10000.0)
    k = rope(key, -torch.arange(L_k), 10000.0)
    return q @ k.transpose(-2, -1) / query.shape[-1] ** 0.5


# %% wrong: turns queries and keys in place, so the tensors of the caller are changed
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    half = d_head // 2
    angle = torch.arange(L_k)[:, None] * 10000.0 ** (-torch.arange(0, d_head, 2, dtype=query.dtype) / d_head)
    for x, turn in ((query, angle[L_k - L_q :]), (key, angle)):
        a, b = x[..., :half].clone(), x[..., half:].clone()
        x[..., :half] = a * turn.cos() - b * turn.sin()
        x[..., half:] = a * turn.sin() + b * turn.cos()
    return query @ key.transpose(-2, -1) / d_head**0.5


# %% wrong: takes the table of the keys for the queries too, a Python error when there are fewer queries than keys (except for a single query)
def rotary_scores(query, key):
    d_head = query.shape[-1]
    angle = torch.arange(key.shape[-2])[:, None] * 10000.0 ** (-torch.arange(0, d_head, 2, dtype=query.dtype) / d_head)
    cos, sin = torch.cat([angle.cos()] * 2, dim=-1), torch.cat([angle.sin()] * 2, dim=-1)

    def rotate_half(x):
        return torch.cat([-x[..., d_head // 2 :], x[..., : d_head // 2]], dim=-1)

    query = query * cos + rotate_half(query) * sin
    key = key * cos + rotate_half(key) * sin
    return query @ key.transpose(-2, -1) / d_head**0.5


# %% two mistakes: forgets to divide by the root of d_head; and the frequencies fall with -i / d_head instead of -2 i / d_head
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    half = d_head // 2
    omega = 10000.0 ** (-torch.arange(half, dtype=query.dtype) / d_head)

    def turn(x, positions):
        angle = positions[:, None] * omega
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)

    return turn(query, torch.arange(L_k)[L_k - L_q :]) @ turn(key, torch.arange(L_k)).transpose(-2, -1)


# %% right: joins the turned halves interleaved in queries and keys alike, an order that the dot product does not notice
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    angle = torch.arange(L_k)[:, None] * 10000.0 ** (-torch.arange(0, d_head, 2, dtype=query.dtype) / d_head)

    def turn(x, angle):
        a, b = x.chunk(2, dim=-1)
        return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1).flatten(-2)

    return turn(query, angle[L_k - L_q :]) @ turn(key, angle).transpose(-2, -1) / d_head**0.5


# %% right: turns nothing, but works the relative angle into the sum over the pairs with einsum
def rotary_scores(query, key):
    L_q, L_k, d_head = query.shape[-2], key.shape[-2], query.shape[-1]
    half = d_head // 2
    omega = 10000.0 ** (-2 * torch.arange(half, dtype=torch.float64) / d_head)
    distance = torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)[None, :]
    angle = distance[:, :, None] * omega  # (L_q, L_k, half)
    cos, sin = angle.cos().to(query.dtype), angle.sin().to(query.dtype)
    q_a, q_b, k_a, k_b = query[..., :half], query[..., half:], key[..., :half], key[..., half:]
    along = torch.einsum("bhqi,bhki,qki->bhqk", q_a, k_a, cos) + torch.einsum("bhqi,bhki,qki->bhqk", q_b, k_b, cos)
    across = torch.einsum("bhqi,bhki,qki->bhqk", q_a, k_b, sin) - torch.einsum("bhqi,bhki,qki->bhqk", q_b, k_a, sin)
    return (along + across) / d_head**0.5


# %% right: keys stand at negative distances from the last token (0 for the last), which changes no score
def rotary_scores(query, key):
    q = rope(query, torch.arange(1 - query.shape[-2], 1), 10000.0)
    k = rope(key, torch.arange(1 - key.shape[-2], 1), 10000.0)
    return torch.einsum("bhqd,bhkd->bhqk", q, k).div(query.shape[-1] ** 0.5)
