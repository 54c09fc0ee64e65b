# %% setup
import torch


# %% wrong: blocks travel to the rank before
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r + s) % P for s in range(P)] for r in range(P)])
    N = 2 * B * num_kv_heads * L // P * d_head * num_bytes
    there = (P - 1) * N
    return holders, there, there + (P * N if P > 1 else 0), N * min(2, P), N * P


# %% wrong: counts all query heads
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r - s) % P for s in range(P)] for r in range(P)])
    N = 2 * B * num_heads * L // P * d_head * num_bytes
    there = (P - 1) * N
    return holders, there, there + (P * N if P > 1 else 0), N * min(2, P), N * P


# %% wrong: forgets that with a single rank nothing is sent and nothing arrives
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.tensor([[(r - s) % P for s in range(P)] for r in range(P)])
    N = 2 * B * num_kv_heads * L // P * d_head * num_bytes
    return holders, (P - 1) * N, (2 * P - 1) * N, 2 * N, N * P


# %% wrong: the way back is taken to be twice the way there
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.stack([torch.arange(P).roll(s) for s in range(P)], dim=1)
    N = 2 * B * num_kv_heads * (L // P) * d_head * num_bytes
    return holders, (P - 1) * N, 2 * (P - 1) * N, N * min(2, P), N * P


# %% two mistakes: numbers in place of bytes; and every block is sent P times
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.stack([torch.arange(P).roll(s) for s in range(P)], dim=1)
    N = 2 * B * num_kv_heads * (L // P) * d_head
    there = P * N if P > 1 else 0
    return holders, there, 2 * there, N * min(2, P), N * P


# %% right: columns rolled, and a single rank apart
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.stack([torch.arange(P).roll(s) for s in range(P)], dim=1)
    everything = 2 * B * num_kv_heads * L * d_head * num_bytes
    if P == 1:
        return holders, 0, 0, everything, everything
    N = everything // P
    return holders, everything - N, 2 * everything - N, 2 * N, everything


# %% right: counted by following the blocks
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    N = (L // P) * B * d_head * num_kv_heads * num_bytes * 2
    held, columns, there, back = list(range(P)), [], 0, 0
    for step in range(P):
        columns.append(held)
        if step < P - 1:
            held = [held[r - 1] for r in range(P)]
            there += N
            back += N
        if P > 1:
            back += N
    return torch.tensor(columns).T, there, back, 2 * N if P > 1 else N, P * N


# %% setup
import math
import itertools
import functools
import torch
import torch.nn.functional as F


# %% wrong: the blocks travel the other way round, (r + s) % P
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    N = 2 * B * num_kv_heads * (L // P) * d_head * num_bytes
    r = torch.arange(P)
    holders = (r[:, None] + r) % P
    if P == 1:
        return holders, 0, 0, N, N
    return holders, (P - 1) * N, (2 * P - 1) * N, 2 * N, P * N


# %% wrong: num_heads instead of num_kv_heads
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    N = 2 * B * num_heads * (L // P) * d_head * num_bytes
    r = torch.arange(P)
    holders = (r[:, None] - r) % P
    if P == 1:
        return holders, 0, 0, N, N
    return holders, (P - 1) * N, (2 * P - 1) * N, 2 * N, P * N


# %% wrong: back is twice there, the gradients make only P - 1 hops
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    N = 2 * B * num_kv_heads * (L // P) * d_head * num_bytes
    r = torch.arange(P)
    holders = (r[:, None] - r) % P
    there = (P - 1) * N
    return holders, there, 2 * there, min(P, 2) * N, P * N


# %% wrong: a block is sent in each of the P steps forward
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    N = 2 * B * num_kv_heads * (L // P) * d_head * num_bytes
    r = torch.arange(P)
    holders = (r[:, None] - r) % P
    if P == 1:
        return holders, 0, 0, N, N
    return holders, P * N, (2 * P - 1) * N, 2 * N, P * N


# %% wrong: the single rank is forgotten
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    N = 2 * B * num_kv_heads * (L // P) * d_head * num_bytes
    r = torch.arange(P)
    holders = (r[:, None] - r) % P
    return holders, (P - 1) * N, (2 * P - 1) * N, 2 * N, P * N


# %% wrong: the batch is forgotten in the bytes of a block
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    N = 2 * num_kv_heads * (L // P) * d_head * num_bytes
    r = torch.arange(P)
    holders = (r[:, None] - r) % P
    if P == 1:
        return holders, 0, 0, N, N
    return holders, (P - 1) * N, (2 * P - 1) * N, 2 * N, P * N


# %% wrong: gathered counts only the blocks of the others
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    N = 2 * B * num_kv_heads * (L // P) * d_head * num_bytes
    r = torch.arange(P)
    holders = (r[:, None] - r) % P
    if P == 1:
        return holders, 0, 0, N, N
    return holders, (P - 1) * N, (2 * P - 1) * N, 2 * N, (P - 1) * N


# %% right: plays the ring through and counts
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    whole = sum(B * L * num_kv_heads * d_head * num_bytes for _ in ("key", "value"))
    block = whole // P
    holding, columns = list(range(P)), []
    there = back = 0
    most = block
    for step in range(P):
        columns.append(holding)
        if step + 1 < P:
            there += block
            back += block
            most = max(most, block + block)
            holding = [holding[-1]] + holding[:-1]
        if P > 1:
            back += block  # the gradient goes on after every step, home after the last
    holders = torch.tensor([[column[r] for column in columns] for r in range(P)])
    return holders, there, back, most, whole


# %% right: columns by roll, numbers by formulas from the whole
def ring_plan(P, B, L, num_heads, num_kv_heads, d_head, num_bytes):
    holders = torch.stack([torch.arange(P).roll(s) for s in range(P)], dim=1)
    both = math.prod((2, B, num_kv_heads, L, d_head, num_bytes))
    share = both // P
    sent = both - share
    home = share if P != 1 else 0
    arriving = share * (P > 1)
    return holders, sent, sent + sent + home, share + arriving, both
