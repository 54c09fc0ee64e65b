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


# %% setup
import torch

# %% wrong: divides the key/value heads by P as well, so with more ranks than key/value heads every rank gets none
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    n = num_heads // P * d
    m = num_kv_heads // P * d
    a, b = rank * n, (rank + 1) * n
    c, e = rank * m, (rank + 1) * m
    return q[a:b], k[c:e], v[c:e], o[:, a:b]

# %% wrong: at least one key/value head, but still starts at rank times that number, so with more ranks than key/value heads later ranks get the wrong head or none
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    n = num_heads // P * d
    m = max(1, num_kv_heads // P) * d
    qs = slice(rank * n, (rank + 1) * n)
    ks = slice(rank * m, (rank + 1) * m)
    return q[qs], k[ks], v[ks], o[:, qs]

# %% wrong: with more ranks than key/value heads, the heads are dealt out round robin (rank % num_kv_heads)
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    n = num_heads // P * d
    if P <= num_kv_heads:
        m = num_kv_heads // P * d
        ks = slice(rank * m, (rank + 1) * m)
    else:
        head = rank % num_kv_heads
        ks = slice(head * d, (head + 1) * d)
    qs = slice(rank * n, (rank + 1) * n)
    return q[qs], k[ks], v[ks], o[:, qs]

# %% wrong: cuts rows of o instead of columns
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    group = num_heads // num_kv_heads
    first, last = rank * num_heads // P, (rank + 1) * num_heads // P
    kv = slice(first // group * d, ((last - 1) // group + 1) * d)
    return q[first * d:last * d], k[kv], v[kv], o[first * d:last * d]

# %% wrong: takes d_model / num_heads for the size of a head
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[1] // num_heads
    group = num_heads // num_kv_heads
    first, last = rank * num_heads // P, (rank + 1) * num_heads // P
    kv = slice(first // group * d, ((last - 1) // group + 1) * d)
    return q[first * d:last * d], k[kv], v[kv], o[:, first * d:last * d]

# %% wrong: divides both ends of the range of query heads by the group, so ranks in the middle of a group get no key/value head
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    group = num_heads // num_kv_heads
    per = num_heads // P
    first, last = rank * per, (rank + 1) * per
    kv = slice(first // group * d, last // group * d)
    return q[first * d:last * d], k[kv], v[kv], o[:, first * d:last * d]

# %% wrong: end of the key/value heads is last // group + 1 with last exclusive, one head too many whenever a rank ends at the end of a group (except the last rank, where the slice stops anyway)
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    group = num_heads // num_kv_heads
    per = num_heads // P
    first, last = rank * per, (rank + 1) * per
    kv = slice(first // group * d, (last // group + 1) * d)
    return q[first * d:last * d], k[kv], v[kv], o[:, first * d:last * d]

# %% wrong: repeats the key/value head for each query head of the rank, instead of holding it once
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    group = num_heads // num_kv_heads
    heads = range(rank * num_heads // P, (rank + 1) * num_heads // P)
    rows = torch.tensor([h * d + i for h in heads for i in range(d)])
    kv = torch.tensor([h // group * d + i for h in heads for i in range(d)])
    return q[rows], k[kv], v[kv], o[:, rows]

# %% wrong: deals the query heads out in stripes, rank, rank + P, ...
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    group = num_heads // num_kv_heads
    heads = list(range(rank, num_heads, P))
    kv_heads = sorted({h // group for h in heads})
    rows = torch.tensor([h * d + i for h in heads for i in range(d)])
    kv = torch.tensor([h * d + i for h in kv_heads for i in range(d)])
    return q[rows], k[kv], v[kv], o[:, rows]

# %% wrong: only the key/value head of the rank's first query head, which is too few when a rank has several groups
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    per = num_heads // P
    group = num_heads // num_kv_heads
    kv_head = rank * per // group
    rows = slice(rank * per * d, (rank + 1) * per * d)
    kv = slice(kv_head * d, (kv_head + 1) * d)
    return q[rows], k[kv], v[kv], o[:, rows]

# %% wrong: with more ranks than key/value heads every rank keeps all of k and v
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    q_part = q.chunk(P, dim=0)[rank]
    o_part = o.chunk(P, dim=1)[rank]
    if num_kv_heads % P == 0:
        return q_part, k.chunk(P)[rank], v.chunk(P)[rank], o_part
    return q_part, k, v, o_part

# %% wrong: chunks the rows of k and v by P instead of heads, so with more ranks than key/value heads a rank gets a piece of a head (fails for some sizes, right where P divides num_kv_heads)
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    return (
        q.chunk(P, dim=0)[rank],
        k.chunk(P, dim=0)[min(rank, len(k.chunk(P, dim=0)) - 1)],
        v.chunk(P, dim=0)[min(rank, len(v.chunk(P, dim=0)) - 1)],
        o.chunk(P, dim=1)[rank],
    )

# %% wrong: the key/value head is query head % num_kv_heads (heads that share one are not neighbors)
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.size(0) // num_heads
    per = num_heads // P
    heads = [rank * per + i for i in range(per)]
    kv_heads = sorted(set(h % num_kv_heads for h in heads))
    pick = lambda w, hs: torch.cat([w[h * d:(h + 1) * d] for h in hs])
    return pick(q, heads), pick(k, kv_heads), pick(v, kv_heads), pick(o.T, heads).T

# %% wrong: the heads interleave in the rows (row i belongs to head i % num_heads)
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.size(0) // num_heads
    group = num_heads // num_kv_heads
    per = num_heads // P
    a, b = rank * per, (rank + 1) * per
    c, e = a // group, (b - 1) // group + 1
    Q = q.view(d, num_heads, -1)[:, a:b].reshape(per * d, -1)
    K = k.view(d, num_kv_heads, -1)[:, c:e].reshape((e - c) * d, -1)
    V = v.view(d, num_kv_heads, -1)[:, c:e].reshape((e - c) * d, -1)
    O = o.view(-1, d, num_heads)[:, :, a:b].reshape(-1, per * d)
    return Q, K, V, O

# %% wrong: returns the part of o transposed, (heads * d_head, d_model)
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.size(0) // num_heads
    group = num_heads // num_kv_heads
    per = num_heads // P
    a, b = rank * per, (rank + 1) * per
    c, e = a // group, (b - 1) // group + 1
    return q[a * d:b * d], k[c * d:e * d], v[c * d:e * d], o.T[a * d:b * d]

# %% wrong: cuts v with the rows of the query heads
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.size(0) // num_heads
    group = num_heads // num_kv_heads
    per = num_heads // P
    a, b = rank * per, (rank + 1) * per
    c, e = a // group, (b - 1) // group + 1
    return q[a * d:b * d], k[c * d:e * d], v[a * d:b * d], o[:, a * d:b * d]

# %% wrong: the key/value head of a rank is rank // group; true only if a rank has a single query head
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.size(0) // num_heads
    per = num_heads // P
    rows = slice(rank * per * d, (rank + 1) * per * d)
    if P <= num_kv_heads:
        m = num_kv_heads // P
        kv = slice(rank * m * d, (rank + 1) * m * d)
    else:
        group = num_heads // num_kv_heads
        kv = slice(rank // group * d, (rank // group + 1) * d)
    return q[rows], k[kv], v[kv], o[:, rows]

# %% wrong: returns in the order q, o, k, v... no: k and v swapped
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.size(0) // num_heads
    group = num_heads // num_kv_heads
    per = num_heads // P
    a, b = rank * per, (rank + 1) * per
    c, e = a // group, (b - 1) // group + 1
    return q[a * d:b * d], v[c * d:e * d], k[c * d:e * d], o[:, a * d:b * d]

# %% wrong: zeroes the other heads and keeps the full shapes
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.size(0) // num_heads
    group = num_heads // num_kv_heads
    per = num_heads // P
    a, b = rank * per, (rank + 1) * per
    c, e = a // group, (b - 1) // group + 1
    Q, K, V, O = (torch.zeros_like(w) for w in (q, k, v, o))
    Q[a * d:b * d] = q[a * d:b * d]
    K[c * d:e * d] = k[c * d:e * d]
    V[c * d:e * d] = v[c * d:e * d]
    O[:, a * d:b * d] = o[:, a * d:b * d]
    return Q, K, V, O

# %% wrong: with more ranks than key/value heads, the ranks are counted from the end (the last rank gets key/value head 0), by a negative index
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.size(0) // num_heads
    per = num_heads // P
    rows = slice(rank * per * d, (rank + 1) * per * d)
    if num_kv_heads >= P:
        return q[rows], k.chunk(P)[rank], v.chunk(P)[rank], o[:, rows]
    h = -(rank // (P // num_kv_heads)) - 1
    ks = k.view(num_kv_heads, d, -1)
    vs = v.view(num_kv_heads, d, -1)
    return q[rows], ks[h], vs[h], o[:, rows]

# %% two mistakes: heads of size d_model / num_heads, and no key/value head for ranks beyond their number
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[1] // num_heads
    n = num_heads // P * d
    m = num_kv_heads // P * d
    return (q[rank * n:(rank + 1) * n], k[rank * m:(rank + 1) * m],
            v[rank * m:(rank + 1) * m], o[:, rank * n:(rank + 1) * n])

# %% two mistakes: rows of o, and the key/value heads dealt out round robin
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    n = num_heads // P * d
    a = slice(rank * n, (rank + 1) * n)
    m = max(1, num_kv_heads // P)
    start = (rank * m) % num_kv_heads
    b = slice(start * d, (start + m) * d)
    return q[a], k[b], v[b], o[a]

# %% right: slices, with the head of the first and the last query head
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    group = num_heads // num_kv_heads
    per = num_heads // P
    a, b = rank * per, (rank + 1) * per
    c, e = a // group, (b - 1) // group + 1
    return q[a * d:b * d], k[c * d:e * d], v[c * d:e * d], o[:, a * d:b * d]

# %% right: loops over heads and a set of key/value heads, concatenates, returns a list
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    heads, kv_heads = [], []
    for h in range(num_heads):
        if h * P // num_heads == rank:
            heads.append(h)
            kv = h * num_kv_heads // num_heads
            if kv not in kv_heads:
                kv_heads.append(kv)
    cut = lambda w, hs, dim: torch.cat([w.narrow(dim, h * d, d) for h in hs], dim)
    return [cut(q, heads, 0), cut(k, kv_heads, 0), cut(v, kv_heads, 0), cut(o, heads, 1)]

# %% right: boolean masks of rows
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    head_of_row = torch.arange(q.shape[0]) // (q.shape[0] // num_heads)
    mine = head_of_row // (num_heads // P) == rank
    used = torch.unique(head_of_row[mine] // (num_heads // num_kv_heads))
    kv_of_row = torch.arange(k.shape[0]) // (q.shape[0] // num_heads)
    also = torch.isin(kv_of_row, used)
    return q[mine], k[also], v[also], o[:, mine]

# %% right: tensor_split into max(1, kv/P)-head parts, copies by repeat_interleave of whole heads over ranks
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    parts = min(P, num_kv_heads)
    which = rank * parts // P
    return (torch.tensor_split(q, P)[rank].clone(), torch.tensor_split(k, parts)[which].clone(),
            torch.tensor_split(v, parts)[which].clone(), torch.tensor_split(o, P, dim=1)[rank].clone())

# %% right: unflattens heads, selects by index_select, flattens again
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    heads = torch.arange(num_heads).view(P, -1)[rank]
    kv_heads = torch.div(heads * num_kv_heads, num_heads, rounding_mode="floor").unique()
    q_h = q.unflatten(0, (num_heads, -1)).index_select(0, heads)
    k_h = k.unflatten(0, (num_kv_heads, -1)).index_select(0, kv_heads)
    v_h = v.unflatten(0, (num_kv_heads, -1)).index_select(0, kv_heads)
    o_h = o.unflatten(1, (num_heads, -1)).index_select(1, heads)
    return q_h.flatten(0, 1), k_h.flatten(0, 1), v_h.flatten(0, 1), o_h.flatten(1)

# %% right: a one-hot selection matrix times the weight (einsum)
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    per, group = num_heads // P, num_heads // num_kv_heads
    first = rank * per
    n_kv = max(per // group, 1)
    rows = torch.arange(first * d, (first + per) * d)
    kv_rows = torch.arange(n_kv * d) + first // group * d
    pick = torch.eye(q.shape[0], dtype=q.dtype)[rows]
    pick_kv = torch.eye(k.shape[0], dtype=k.dtype)[kv_rows]
    return (torch.einsum("ij,jm->im", pick, q), pick_kv @ k, pick_kv @ v,
            torch.einsum("mj,ij->mi", o, pick))


# %% setup
import torch

# %% wrong: the first (instead of own) key/value head of a tie by rounding: round(first * num_kv_heads / num_heads)
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    per = num_heads // P
    m = max(1, num_kv_heads // P)
    start = min(round(rank * per * num_kv_heads / num_heads), num_kv_heads - m)
    a, b = slice(rank * per * d, (rank + 1) * per * d), slice(start * d, (start + m) * d)
    return q[a], k[b], v[b], o[:, a]

# %% wrong: d_head of k from k's rows divided by num_heads
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = k.shape[0] // num_heads
    D = q.shape[0] // num_heads
    per = num_heads // P
    a = slice(rank * per * D, (rank + 1) * per * D)
    b = slice(rank * per * d, (rank + 1) * per * d)
    return q[a], k[b], v[b], o[:, a]

# %% wrong: the last key/value head from the last query head, but the first left out of the range: only the last one's
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    per, group = num_heads // P, num_heads // num_kv_heads
    h = ((rank + 1) * per - 1) // group
    a = slice(rank * per * d, (rank + 1) * per * d)
    b = slice(h * d, (h + 1) * d)
    return q[a], k[b], v[b], o[:, a]

# %% wrong: makes the other heads of o zero in place before cutting
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    per, group = num_heads // P, num_heads // num_kv_heads
    x, y = rank * per, (rank + 1) * per
    o[:, :x * d] = 0
    o[:, y * d:] = 0
    c, e = x // group, (y - 1) // group + 1
    return q[x * d:y * d], k[c * d:e * d], v[c * d:e * d], o[:, x * d:y * d]

# %% wrong: group taken as num_heads // P (query heads of a rank)
def head_shard(q, k, v, o, num_heads, num_kv_heads, rank, P):
    d = q.shape[0] // num_heads
    per = num_heads // P
    x, y = rank * per, (rank + 1) * per
    c, e = x // per, (y - 1) // per + 1
    return q[x * d:y * d], k[c * d:e * d], v[c * d:e * d], o[:, x * d:y * d]
