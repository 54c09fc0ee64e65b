# %% setup
import math
import torch
import torch.nn.functional as F

# %% wrong: takes d_head to be d_model / num_heads
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    d_head = q.shape[1] // num_heads
    shared = head // (num_heads // num_kv_heads)
    mine = slice(head * d_head, (head + 1) * d_head)
    ours = slice(shared * d_head, (shared + 1) * d_head)
    return q[mine].T @ k[ours] / math.sqrt(d_head), o[:, mine] @ v[ours]


# %% wrong: QK is turned, the key's features are its rows
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    d_head = q.shape[0] // num_heads
    shared = head // (num_heads // num_kv_heads)
    mine = slice(head * d_head, (head + 1) * d_head)
    ours = slice(shared * d_head, (shared + 1) * d_head)
    return k[ours].T @ q[mine] / math.sqrt(d_head), o[:, mine] @ v[ours]


# %% wrong: deals the shared heads out in turn, head % num_kv_heads
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    d_head = q.shape[0] // num_heads
    shared = head % num_kv_heads
    mine = slice(head * d_head, (head + 1) * d_head)
    ours = slice(shared * d_head, (shared + 1) * d_head)
    return q[mine].T @ k[ours] / math.sqrt(d_head), o[:, mine] @ v[ours]


# %% wrong: cuts o with the shared head's slice
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    d_head = q.shape[0] // num_heads
    shared = head // (num_heads // num_kv_heads)
    mine = slice(head * d_head, (head + 1) * d_head)
    ours = slice(shared * d_head, (shared + 1) * d_head)
    return q[mine].T @ k[ours] / math.sqrt(d_head), o[:, ours] @ v[ours]


# %% wrong: the heads' rows are taken as interleaved, every num_heads-th row
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    d_head = q.shape[0] // num_heads
    shared = head // (num_heads // num_kv_heads)
    w_q, w_o = q[head::num_heads], o[:, head::num_heads]
    w_k, w_v = k[shared::num_kv_heads], v[shared::num_kv_heads]
    return w_q.T @ w_k / math.sqrt(d_head), w_o @ w_v


# %% wrong: divides OV by the root as well
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    d_head = q.shape[0] // num_heads
    shared = head // (num_heads // num_kv_heads)
    mine = slice(head * d_head, (head + 1) * d_head)
    ours = slice(shared * d_head, (shared + 1) * d_head)
    root = d_head**0.5
    return (q[mine].T @ k[ours]) / root, (o[:, mine] @ v[ours]) / root


# %% wrong: divides by the root of d_model
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    d_head = q.shape[0] // num_heads
    shared = head * num_kv_heads // num_heads
    w_q = q[head * d_head : (head + 1) * d_head]
    w_k = k[shared * d_head : (shared + 1) * d_head]
    w_v = v[shared * d_head : (shared + 1) * d_head]
    w_o = o[:, head * d_head : (head + 1) * d_head]
    return w_q.T @ w_k / w_q.shape[-1] ** 0.5, w_o @ w_v


# %% two mistakes: doesn't divide by the root; and OV is turned, as for rows times the matrix
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    d_head = q.shape[0] // num_heads
    shared = head // (num_heads // num_kv_heads)
    mine = slice(head * d_head, (head + 1) * d_head)
    ours = slice(shared * d_head, (shared + 1) * d_head)
    return q[mine].T @ k[ours], v[ours].T @ o[:, mine].T


# %% right: all heads at once with einsum and repeat_interleave, then picks one
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    group = num_heads // num_kv_heads
    q = q.unflatten(0, (num_heads, -1))  # (H, d_head, d_model)
    k = k.unflatten(0, (num_kv_heads, -1)).repeat_interleave(group, dim=0)
    v = v.unflatten(0, (num_kv_heads, -1)).repeat_interleave(group, dim=0)
    o = o.unflatten(1, (num_heads, -1))  # (d_model, H, d_head)
    qk = torch.einsum("hdi,hdj->hij", q, k) * q.shape[1] ** -0.5
    ov = torch.einsum("ihd,hdj->hij", o, v)
    return qk[head], ov[head]


# %% right: a sum of outer products, one feature of the head after the other
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    d_head = k.shape[0] // num_kv_heads
    shared = head * num_kv_heads // num_heads
    qk = torch.zeros(q.shape[1], q.shape[1], dtype=q.dtype)
    ov = torch.zeros(q.shape[1], q.shape[1], dtype=q.dtype)
    for feature in range(d_head):
        mine, ours = head * d_head + feature, shared * d_head + feature
        qk += torch.outer(q[mine] / math.sqrt(d_head), k[ours])
        ov += torch.outer(o[:, mine], v[ours])
    return qk, ov


# %% right: an entry is what the head does with two unit vectors, through the whole layers, everything else set to zero
def head_circuits(q, k, v, o, head, num_heads, num_kv_heads):
    d_head = q.shape[0] // num_heads
    units = torch.eye(q.shape[1], dtype=q.dtype)
    owner = torch.arange(num_heads * d_head) // d_head == head
    queries = F.linear(units, q) * owner  # (d_model, num_heads * d_head)
    at = torch.arange(num_heads) // (num_heads // num_kv_heads)

    def spread(w):  # a copy of the shared head for each query head
        return F.linear(units, w).view(len(units), num_kv_heads, d_head)[:, at].flatten(1)

    qk = queries @ spread(k).T / d_head**0.5
    ov = F.linear(spread(v) * owner, o).T
    return qk, ov
