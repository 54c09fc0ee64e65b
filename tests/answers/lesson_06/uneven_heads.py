# %% setup
import torch
import torch.nn.functional as F

# %% wrong: scales every head by the root of d_model / H, the size of equal heads
def uneven_heads(q, k, v, sizes):
    d_head = q.shape[-1] / len(sizes)
    q, k, v = (t.split(sizes, dim=-1) for t in (q, k, v))
    tables = [(a @ b.transpose(-2, -1) / d_head**0.5).softmax(-1) for a, b in zip(q, k)]
    return torch.cat([w @ c for w, c in zip(tables, v)], -1), torch.stack(tables, 1)

# %% wrong: the tables of weights are stacked on a last axis
def uneven_heads(q, k, v, sizes):
    outputs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        w = (a @ b.mT / a.shape[-1] ** 0.5).softmax(-1)
        tables.append(w)
        outputs.append(w @ c)
    return torch.cat(outputs, -1), torch.stack(tables, -1)

# %% wrong: forgets to scale
def uneven_heads(q, k, v, sizes):
    outputs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        w = (a @ b.mT).softmax(-1)
        tables.append(w)
        outputs.append(w @ c)
    return torch.cat(outputs, -1), torch.stack(tables, 1)

# %% wrong: softmax over the queries
def uneven_heads(q, k, v, sizes):
    outputs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        w = (a @ b.mT / a.shape[-1] ** 0.5).softmax(1)
        tables.append(w)
        outputs.append(w @ c)
    return torch.cat(outputs, -1), torch.stack(tables, 1)

# %% two mistakes: one root for all heads, that of the largest, and the tables stacked before the batch
def uneven_heads(q, k, v, sizes):
    outputs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        w = (a @ b.mT / max(sizes) ** 0.5).softmax(-1)
        tables.append(w)
        outputs.append(w @ c)
    return torch.cat(outputs, -1), torch.stack(tables)

# %% two mistakes: scaled by the size instead of its root, and only the mean of the weights is returned
def uneven_heads(q, k, v, sizes):
    outputs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        w = (a @ b.mT / a.shape[-1]).softmax(-1)
        tables.append(w)
        outputs.append(w @ c)
    return torch.cat(outputs, -1), torch.stack(tables, 1).mean(1)

# %% wrong: divides by the root of the largest size, as if the other heads were filled up with zeros
def uneven_heads(q, k, v, sizes):
    outs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        w = (a @ b.transpose(1, 2) / max(sizes) ** 0.5).softmax(dim=-1)
        outs.append(w @ c)
        tables.append(w)
    return torch.cat(outs, dim=-1), torch.stack(tables, dim=1)

# %% wrong: the tables of weights stand side by side along the keys instead of along an axis of heads
def uneven_heads(q, k, v, sizes):
    outs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        w = (a @ b.transpose(1, 2) / a.shape[-1] ** 0.5).softmax(dim=-1)
        outs.append(w @ c)
        tables.append(w)
    return torch.cat(outs, dim=-1), torch.cat(tables, dim=-1)

# %% two mistakes: the scale of the broken function is kept, and the outputs are put together last head first
def uneven_heads(q, k, v, sizes):
    scale = (q.shape[-1] / len(sizes)) ** 0.5
    outs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        tables.append((a @ b.mT / scale).softmax(-1))
        outs.append(tables[-1] @ c)
    return torch.cat(outs[::-1], -1), torch.stack(tables, 1)

# %% two mistakes: no scale at all, and the table of the last head comes first
def uneven_heads(q, k, v, sizes):
    outs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        tables.insert(0, (a @ b.mT).softmax(-1))
        outs.append(tables[0] @ c)
    return torch.cat(outs, -1), torch.stack(tables, 1)

# %% right: full-width products in which the features of other heads are masked to zero
def uneven_heads(q, k, v, sizes):
    owner = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    mine = (owner == torch.arange(len(sizes))[:, None]).to(q.dtype)
    scores = torch.einsum("bid,bjd,hd->bhij", q, k, mine) / mine.sum(1).sqrt()[:, None, None]
    w = torch.exp(scores - scores.amax(-1, keepdim=True))
    w = w / w.sum(-1, keepdim=True)
    return torch.einsum("bhij,bjd,hd->bid", w, v, mine), w

# %% right: recursion, the first head and then the rest
def uneven_heads(q, k, v, sizes):
    n = sizes[0]
    w = (q[..., :n] / n**0.5 @ k[..., :n].transpose(1, 2)).softmax(-1)
    out, w_all = w @ v[..., :n], w[:, None]
    if len(sizes) > 1:
        rest, w_rest = uneven_heads(q[..., n:], k[..., n:], v[..., n:], sizes[1:])
        out, w_all = torch.cat([out, rest], -1), torch.cat([w_all, w_rest], 1)
    return out, w_all

# %% setup
import torch

# %% right: no loop; a table of 0 and 1 says which feature belongs to which head
def uneven_heads(q, k, v, sizes):
    size = torch.tensor(sizes)
    owner = torch.repeat_interleave(torch.arange(len(sizes)), size)
    mine = torch.nn.functional.one_hot(owner, len(sizes)).T.to(q.dtype)  # (H, d_model)
    scale = size.to(q.dtype).rsqrt()[:, None]
    weights = torch.einsum("bid,hd,bjd->bhij", q, mine * scale, k).softmax(-1)
    return torch.einsum("bhij,hd,bjd->bid", weights, mine, v), weights
