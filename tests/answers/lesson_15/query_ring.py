# %% setup
import math
import torch


# %% wrong: the queries travel to the next rank, as keys do on the page
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r - s) % P for s in range(P)] for r in range(P)])
    kv = 2 * B * num_kv_heads * L_k // P * d_head * num_bytes
    q = B * num_heads * L_q // P * d_head * num_bytes
    lse = q // d_head
    return holders, (P - 1) * kv, (P - 1) * (2 * q + lse) + (q + lse if P > 1 else 0)


# %% wrong: the way home isn't counted
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r + s) % P for s in range(P)] for r in range(P)])
    kv = 2 * B * num_kv_heads * L_k // P * d_head * num_bytes
    q = B * num_heads * L_q // P * d_head * num_bytes
    return holders, (P - 1) * kv, (P - 1) * (2 * q + q // d_head)


# %% wrong: everything goes home, the queries too
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.stack([torch.arange(P).roll(-s) for s in range(P)], dim=1)
    kv = 2 * B * num_kv_heads * L_k // P * d_head * num_bytes
    q = B * num_heads * L_q // P * d_head * num_bytes
    hops = P if P > 1 else 0
    return holders, (P - 1) * kv, hops * (2 * q + q // d_head)


# %% wrong: the lse is forgotten
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r + s) % P for s in range(P)] for r in range(P)])
    kv = 2 * B * num_kv_heads * L_k // P * d_head * num_bytes
    q = B * num_heads * L_q // P * d_head * num_bytes
    return holders, (P - 1) * kv, (P - 1) * 2 * q + (q if P > 1 else 0)


# %% wrong: a single rank sends its output home
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r + s) % P for s in range(P)] for r in range(P)])
    kv = 2 * B * num_kv_heads * L_k // P * d_head * num_bytes
    q = B * num_heads * L_q // P * d_head * num_bytes
    lse = q // d_head
    return holders, (P - 1) * kv, (P - 1) * q + P * (q + lse)


# %% wrong: keys and values have all query heads
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r + s) % P for s in range(P)] for r in range(P)])
    kv = 2 * B * num_heads * L_k // P * d_head * num_bytes
    q = B * num_heads * L_q // P * d_head * num_bytes
    lse = q // d_head
    return holders, (P - 1) * kv, (P - 1) * (2 * q + lse) + (q + lse if P > 1 else 0)


# %% wrong: the lse is taken to have a head for each key/value head
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r + s) % P for s in range(P)] for r in range(P)])
    kv = 2 * B * num_kv_heads * L_k // P * d_head * num_bytes
    q = B * num_heads * L_q // P * d_head * num_bytes
    lse = B * num_kv_heads * L_q // P * num_bytes
    return holders, (P - 1) * kv, (P - 1) * (2 * q + lse) + (q + lse if P > 1 else 0)


# %% wrong: only the queries travel, what they collect goes home in one piece at the end
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r + s) % P for s in range(P)] for r in range(P)])
    kv = 2 * B * num_kv_heads * L_k // P * d_head * num_bytes
    q = B * num_heads * L_q // P * d_head * num_bytes
    return holders, (P - 1) * kv, (P - 1) * q + (q + q // d_head if P > 1 else 0)


# %% wrong: the parts of the ranks are forgotten, all tokens are sent
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r + s) % P for s in range(P)] for r in range(P)])
    kv = 2 * B * num_kv_heads * L_k * d_head * num_bytes
    q = B * num_heads * L_q * d_head * num_bytes
    lse = q // d_head
    return holders, (P - 1) * kv, (P - 1) * (2 * q + lse) + (q + lse if P > 1 else 0)


# %% two mistakes: numbers in place of bytes; and the keys are sent P times
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r + s) % P for s in range(P)] for r in range(P)])
    kv = 2 * B * num_kv_heads * L_k // P * d_head
    q = B * num_heads * L_q // P * d_head
    lse = q // d_head
    return holders, (P * kv if P > 1 else 0), (P - 1) * (2 * q + lse) + (q + lse if P > 1 else 0)


# %% right: plays the ring through and counts
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    block = 2 * B * num_kv_heads * (L_k // P) * d_head
    query = B * num_heads * (L_q // P) * d_head
    collected = B * num_heads * (L_q // P) * (d_head + 1)
    held, columns, keys, queries = list(range(P)), [], 0, 0
    for step in range(P):
        columns.append(held)
        if step < P - 1:
            held = held[1:] + held[:1]
            keys += block
            queries += query + collected
        elif P > 1:
            queries += collected
    return torch.tensor(columns).T, keys * num_bytes, queries * num_bytes


# %% right: a single rank apart
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    if P == 1:
        return torch.zeros(1, 1, dtype=torch.long), 0, 0
    holders = torch.stack([torch.arange(P).roll(-s) for s in range(P)], dim=1)
    per_token = num_heads * num_bytes
    sent = (P - 1) * d_head + P * (d_head + 1)
    both = 2 * num_kv_heads * d_head * num_bytes
    return holders, (P - 1) * B * L_k // P * both, B * L_q // P * per_token * sent


# %% right: everything as math.prod, the table by index arithmetic
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.add(torch.arange(P)[:, None], torch.arange(P)[None]).remainder(P)
    keys = math.prod((P - 1, 2, B, num_kv_heads, L_k // P, d_head, num_bytes))
    one = math.prod((B, num_heads, L_q // P, num_bytes))
    hops = P * (P > 1)
    return holders, keys, one * (d_head * (P - 1) + (d_head + 1) * hops)


# %% setup
import torch

# %% wrong: queries handed to the next rank: holders (r - s) % P, as for keys on the page
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r - s) % P for s in range(P)] for r in range(P)])
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    if P == 1:
        return holders, 0, 0
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, (P - 1) * q + P * (q + lse)

# %% wrong: a single rank sends output and lse to itself
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    rows = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, (P - 1) * rows * d_head + P * rows * (d_head + 1)

# %% wrong: everything takes P hops, queries too
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    rows = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, P * rows * (2 * d_head + 1)

# %% wrong: no hop that brings outputs home
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    rows = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, (P - 1) * rows * (2 * d_head + 1)

# %% wrong: no lse
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    return holders, keys, (2 * P - 1) * q

# %% wrong: one lse for each query, not for each head
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: lse always in 4 bytes
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_heads * 4
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: the batch is forgotten
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = (L_q // P) * num_heads * d_head * num_bytes
    lse = (L_q // P) * num_heads * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: the batch is forgotten in the lse alone
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = (L_q // P) * num_heads * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: keys and values counted with all query heads
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * (L_k // P) * num_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: keys alone, values forgotten
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: bytes of all ranks together
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * L_k * num_kv_heads * d_head * num_bytes
    q = B * L_q * num_heads * d_head * num_bytes
    lse = B * L_q * num_heads * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: keys and values make P hops
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = P * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: lse makes one hop less than the outputs (P - 1)
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, (P - 1) * (q + lse) + P * q

# %% wrong: the first hop counted without output and lse, since nothing is collected before step 0
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, (P - 1) * q + (P - 1) * (q + lse)

# %% wrong: holders shifted, as if the queries had been handed on once before step 0
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r + 1) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: (r + s) without the modulo
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = r[:, None] + r
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: a rank's tokens of the message taken for both, keys too (L_q instead of L_k)
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    n = L_q // P
    keys = (P - 1) * 2 * B * n * num_kv_heads * d_head * num_bytes
    q = B * n * num_heads * d_head * num_bytes
    lse = B * n * num_heads * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: outputs of the key/value heads only travel (num_kv_heads for output and lse)
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    n = L_q // P
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * n * num_heads * d_head * num_bytes
    home = B * n * num_kv_heads * (d_head + 1) * num_bytes
    return holders, keys, (P - 1) * q + P * home

# %% wrong: the message's own keys and values travel along with the kept ones
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * ((L_k + L_q) // P) * num_kv_heads * d_head * num_bytes
    n = L_q // P
    q = B * n * num_heads * d_head * num_bytes
    lse = B * n * num_heads * num_bytes
    return holders, keys, (2 * P - 1) * q + P * lse

# %% wrong: counts numbers and not bytes
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    n = L_q // P
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head
    q = B * n * num_heads * d_head
    return holders, keys, (2 * P - 1) * q + P * B * n * num_heads

# %% wrong: the last hop brings home the output without its lse... and the queries come home too
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0
    n = L_q // P
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * n * num_heads * d_head * num_bytes
    lse = B * n * num_heads * num_bytes
    return holders, keys, P * 2 * q + (P - 1) * lse

# %% wrong: brings results straight home from where they end, which for P = 2 is one hop but counted as P - 1 hops
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    n = L_q // P
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * n * num_heads * d_head * num_bytes
    back = q + B * n * num_heads * num_bytes
    return holders, keys, (P - 1) * (q + back) + (P - 1) * back

# %% two mistakes: queries to the next rank, and no lse
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] - r) % P
    if P == 1:
        return holders, 0, 0
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    return holders, keys, (2 * P - 1) * q

# %% two mistakes: a single rank sends to itself, and the batch is missing in the lse
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    n = L_q // P
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * n * num_heads * d_head * num_bytes
    return holders, keys, (2 * P - 1) * q + P * n * num_heads * num_bytes

# %% right: broadcasting and formulas
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    keys = (P - 1) * 2 * B * (L_k // P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q // P) * num_heads * d_head * num_bytes
    lse = B * (L_q // P) * num_heads * num_bytes
    return holders, keys, 0 if P == 1 else (P - 1) * q + P * (q + lse)

# %% right: plays the ring, message by message, with empty tensors on the meta device
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    n, m = L_q // P, L_k // P
    query = torch.empty(B, num_heads, n, d_head, device="meta")
    key = torch.empty(B, num_kv_heads, m, d_head, device="meta")
    lse = torch.empty(B, num_heads, n, device="meta")
    held, columns = list(range(P)), []
    by_keys = by_queries = 0
    for step in range(P):
        columns.append(torch.tensor(held))
        if P == 1:
            break
        held = held[1:] + held[:1]
        if step < P - 1:
            by_keys += 2 * key.numel()
            by_queries += query.numel()
        by_queries += query.numel() + lse.numel()
    return torch.stack(columns, dim=1), by_keys * num_bytes, by_queries * num_bytes

# %% right: rolls of arange as int32, numbers as tensors of one, a list
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    ranks = torch.arange(P, dtype=torch.int32)
    holders = torch.stack([ranks.roll(-s) for s in range(P)])
    hops = P - 1
    kv = torch.tensor(hops * 2 * B * L_k * num_kv_heads * d_head * num_bytes // P)
    one = B * L_q * num_heads * num_bytes // P
    queries = torch.tensor((hops * d_head + P * (d_head + 1)) * one * (P > 1))
    return [holders, kv, queries]

# %% right: loops fill zeros
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            holders[r, s] = r + s if r + s < P else r + s - P
    if P == 1:
        return holders, 0, 0
    per_token = 2 * num_kv_heads * d_head
    keys_sent = sum(B * per_token * (L_k // P) * num_bytes for _ in range(P - 1))
    queries_sent = 0
    for hop in range(1, P + 1):
        numbers = num_heads * (d_head + 1)
        if hop < P:
            numbers += num_heads * d_head
        queries_sent += numbers * B * (L_q // P) * num_bytes
    return holders, keys_sent, queries_sent

# %% right: a Hankel table by unfold, true division turned into int
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    holders = (torch.arange(2 * P - 1) % P).unfold(0, P, 1)
    keys = int(2 * B * L_k * num_kv_heads * d_head * num_bytes * (1 - 1 / P) + 0.5)
    queries = ((2 * P - 1) * d_head + P) * num_heads * B * (L_q // P) * num_bytes if P > 1 else 0
    return holders, keys, queries


# %% setup
import torch

# %% right: true division, so bytes are whole floats
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    keys = (P - 1) * 2 * B * (L_k / P) * num_kv_heads * d_head * num_bytes
    q = B * (L_q / P) * num_heads * num_bytes
    return holders, keys, 0 if P == 1 else (P - 1) * q * d_head + P * q * (d_head + 1)

# %% right: holders int64, numbers as tensors of one
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = torch.remainder(r[:, None] + r, P)
    kv = torch.tensor((P - 1) * 2 * B * L_k * num_kv_heads * d_head * num_bytes // P)
    one = B * L_q * num_heads * num_bytes // P
    return [holders, kv, torch.tensor(((P - 1) * d_head + P * (d_head + 1)) * one * (P > 1))]

# %% right: holders int32, numbers ints
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P, dtype=torch.int32)
    holders = (r[:, None] + r) % P
    kv = (P - 1) * 2 * B * L_k * num_kv_heads * d_head * num_bytes // P
    one = B * L_q * num_heads * num_bytes // P
    return holders, kv, ((P - 1) * d_head + P * (d_head + 1)) * one * (P > 1)

# %% wrong: d_head + 1 bytes... lse of 1 byte per head
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    kv = (P - 1) * 2 * B * L_k // P * num_kv_heads * d_head * num_bytes
    n = B * L_q // P * num_heads
    return holders, kv, 0 if P == 1 else (2 * P - 1) * n * d_head * num_bytes + P * n

# %% wrong: result and lse only once, at the end (carried home in one hop), queries travel alone
def query_ring(P, B, L_q, L_k, num_heads, num_kv_heads, d_head, num_bytes):
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    kv = (P - 1) * 2 * B * L_k // P * num_kv_heads * d_head * num_bytes
    n = B * L_q // P * num_heads * num_bytes
    return holders, kv, 0 if P == 1 else (P - 1) * n * d_head + n * (d_head + 1)
