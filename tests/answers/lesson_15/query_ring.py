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
