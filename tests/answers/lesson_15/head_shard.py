# %% setup
import torch


# %% wrong: cuts the rows of k and v into P equal parts, also where there are more ranks than key/value heads
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    return q.chunk(P)[rank], k.chunk(P)[rank], v.chunk(P)[rank], o.chunk(P, dim=1)[rank]


# %% wrong: cuts o by rows
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d_head = q.shape[0] // num_heads
    own = range(rank * num_heads // P, (rank + 1) * num_heads // P)
    group = num_heads // num_kv_heads
    used = sorted({head // group for head in own})
    rows = torch.cat([torch.arange(h * d_head, (h + 1) * d_head) for h in own])
    kv_rows = torch.cat([torch.arange(h * d_head, (h + 1) * d_head) for h in used])
    return q[rows], k[kv_rows], v[kv_rows], o[rows.clamp(max=o.shape[0] - 1)]


# %% wrong: repeats a key/value head for each query head that uses it
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d_head = q.shape[0] // num_heads
    group = num_heads // num_kv_heads
    k = k.unflatten(0, (num_kv_heads, d_head)).repeat_interleave(group, dim=0).flatten(0, 1)
    v = v.unflatten(0, (num_kv_heads, d_head)).repeat_interleave(group, dim=0).flatten(0, 1)
    return q.chunk(P)[rank], k.chunk(P)[rank], v.chunk(P)[rank], o.chunk(P, dim=1)[rank]


# %% wrong: where there are more ranks than key/value heads, rank r takes head r modulo their number
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d_head = q.shape[0] // num_heads
    if P <= num_kv_heads:
        k, v = k.chunk(P)[rank], v.chunk(P)[rank]
    else:
        head = rank % num_kv_heads
        k, v = k[head * d_head : (head + 1) * d_head], v[head * d_head : (head + 1) * d_head]
    return q.chunk(P)[rank], k, v, o.chunk(P, dim=1)[rank]


# %% wrong: gives every rank all of k and v
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    return q.chunk(P)[rank], k, v, o.chunk(P, dim=1)[rank]


# %% right: chunks, and where there are more ranks than key/value heads a chunk for several ranks
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    parts = min(P, num_kv_heads)
    shared = rank * parts // P
    return q.chunk(P)[rank], k.chunk(parts)[shared], v.chunk(parts)[shared], o.chunk(P, dim=1)[rank]


# %% right: heads as an axis of their own
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d_head = q.shape[0] // num_heads
    per_rank = num_heads // P
    own = torch.arange(rank * per_rank, (rank + 1) * per_rank)
    used = torch.unique(own * num_kv_heads // num_heads)
    k_heads, v_heads = k.view(num_kv_heads, d_head, -1), v.view(num_kv_heads, d_head, -1)
    q_part = q.view(num_heads, d_head, -1)[own].flatten(0, 1)
    o_part = o.view(-1, num_heads, d_head)[:, own].flatten(1)
    return q_part, k_heads[used].flatten(0, 1), v_heads[used].flatten(0, 1), o_part


# %% setup
import math
import itertools
import functools
import torch
import torch.nn.functional as F


# %% wrong: ranks share key/value heads round robin (rank % num_kv_heads) when there are more ranks
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    n = num_heads // P
    first = rank * n
    if num_kv_heads >= P:
        n_kv = num_kv_heads // P
        first_kv = rank * n_kv
    else:
        n_kv = 1
        first_kv = rank % num_kv_heads
    rows = slice(first * d, (first + n) * d)
    rows_kv = slice(first_kv * d, (first_kv + n_kv) * d)
    return q[rows], k[rows_kv], v[rows_kv], o[:, rows]


# %% wrong: o is cut in rows instead of columns
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    n = num_heads // P
    group = num_heads // num_kv_heads
    first, last = rank * n, rank * n + n - 1
    rows = slice(first * d, (last + 1) * d)
    rows_kv = slice(first // group * d, (last // group + 1) * d)
    return q[rows], k[rows_kv], v[rows_kv], o[rows]


# %% wrong: query heads are dealt out round robin instead of in a row
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    group = num_heads // num_kv_heads
    heads = list(range(rank, num_heads, P))
    kv_heads = sorted({h // group for h in heads})
    rows = torch.tensor([h * d + i for h in heads for i in range(d)])
    rows_kv = torch.tensor([h * d + i for h in kv_heads for i in range(d)])
    return q[rows], k[rows_kv], v[rows_kv], o[:, rows]


# %% wrong: only the key/value head of the first query head is taken
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    n = num_heads // P
    first = rank * n
    kv = first // (num_heads // num_kv_heads)
    rows = slice(first * d, (first + n) * d)
    rows_kv = slice(kv * d, (kv + 1) * d)
    return q[rows], k[rows_kv], v[rows_kv], o[:, rows]


# %% wrong: one copy of the key/value head for each query head
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    n = num_heads // P
    group = num_heads // num_kv_heads
    heads = range(rank * n, (rank + 1) * n)
    rows = slice(rank * n * d, (rank + 1) * n * d)
    k_part = torch.cat([k[h // group * d : (h // group + 1) * d] for h in heads])
    v_part = torch.cat([v[h // group * d : (h // group + 1) * d] for h in heads])
    return q[rows], k_part, v_part, o[:, rows]


# %% wrong: d_head is taken to be d_model / num_heads
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[1] // num_heads
    n = num_heads // P
    group = num_heads // num_kv_heads
    first, last = rank * n, rank * n + n - 1
    rows = slice(first * d, (last + 1) * d)
    rows_kv = slice(first // group * d, (last // group + 1) * d)
    return q[rows], k[rows_kv], v[rows_kv], o[:, rows]


# %% wrong: end of the key/value heads is (first + n) // group, empty if a rank has less than a group
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    n = num_heads // P
    group = num_heads // num_kv_heads
    start, stop = rank * n, (rank + 1) * n
    kv_start, kv_stop = start // group, stop // group
    return (
        q[start * d : stop * d],
        k[kv_start * d : kv_stop * d],
        v[kv_start * d : kv_stop * d],
        o[:, start * d : stop * d],
    )


# %% right: split and cat over a set of heads
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d_head = q.size(0) // num_heads
    per_rank = num_heads // P
    mine = [h for h in range(num_heads) if h // per_rank == rank]
    used = sorted(set(h * num_kv_heads // num_heads for h in mine))
    pick = lambda w, heads, dim: torch.cat([w.split(d_head, dim)[h] for h in heads], dim)
    return pick(q, mine, 0), pick(k, used, 0), pick(v, used, 0), pick(o, mine, 1)


# %% right: chunks for q and o, a view by heads for k and v, with rank * num_kv_heads // P
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d_model = q.shape[1]
    begin = rank * num_kv_heads // P
    count = max(num_kv_heads // P, 1)
    k_heads = k.reshape(num_kv_heads, -1, d_model)
    v_heads = v.reshape(num_kv_heads, -1, d_model)
    return (
        q.chunk(P, dim=0)[rank],
        k_heads.narrow(0, begin, count).flatten(0, 1),
        v_heads.narrow(0, begin, count).flatten(0, 1),
        o.chunk(P, dim=1)[rank],
    )
