# %% setup
import torch
import torch.nn.functional as F

# %% wrong: divides by the root of the first head's size in every head
def uneven_heads(q, k, v, sizes):
    outs, tables, start = [], [], 0
    for size in sizes:
        part = slice(start, start + size)
        scores = q[..., part] @ k[..., part].mT / sizes[0] ** 0.5
        tables.append(scores.softmax(-1))
        outs.append(tables[-1] @ v[..., part])
        start += size
    return torch.cat(outs, -1), torch.stack(tables, 1)

# %% wrong: divides by the root of the largest size, as if the other heads were filled up with zeros
def uneven_heads(q, k, v, sizes):
    outs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        w = (a @ b.transpose(1, 2) / max(sizes) ** 0.5).softmax(dim=-1)
        outs.append(w @ c)
        tables.append(w)
    return torch.cat(outs, dim=-1), torch.stack(tables, dim=1)

# %% wrong: divides by the size of the head, not by its root
def uneven_heads(q, k, v, sizes):
    outs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        w = (a @ b.transpose(1, 2) / a.shape[-1]).softmax(dim=-1)
        outs.append(w @ c)
        tables.append(w)
    return torch.cat(outs, dim=-1), torch.stack(tables, dim=1)

# %% wrong: cuts the features into equal parts and only uses sizes for the scale
def uneven_heads(q, k, v, sizes):
    outs, tables = [], []
    parts = zip(*(t.tensor_split(len(sizes), dim=-1) for t in (q, k, v)))
    for (a, b, c), size in zip(parts, sizes):
        w = F.softmax(a @ b.transpose(-1, -2) / size**0.5, dim=-1)
        outs.append(w @ c)
        tables.append(w)
    return torch.cat(outs, dim=-1), torch.stack(tables, dim=1)

# %% wrong: every head starts at the end of its own size, not where the one before it ended
def uneven_heads(q, k, v, sizes):
    outs, tables, start = [], [], 0
    for size in sizes:
        a, b, c = (t[..., start : start + size] for t in (q, k, v))
        w = F.softmax(a @ b.transpose(-1, -2) / size**0.5, dim=-1)
        outs.append(w @ c)
        tables.append(w)
        start = min(size, q.shape[-1] - sizes[min(len(outs), len(sizes) - 1)])
    return torch.cat(outs, dim=-1), torch.stack(tables, dim=1)

# %% wrong: the softmax runs over the queries
def uneven_heads(q, k, v, sizes):
    outs, tables = [], []
    for a, b, c in zip(q.split(sizes, -1), k.split(sizes, -1), v.split(sizes, -1)):
        w = (a @ b.transpose(1, 2) / a.shape[-1] ** 0.5).softmax(dim=1)
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

# %% right: no loop over attention, every head is the whole width with the features of the others masked to zero
def uneven_heads(q, k, v, sizes):
    owner = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))  # (d_model,)
    mine = (owner == torch.arange(len(sizes))[:, None]).to(q)  # (H, d_model)
    root = torch.tensor(sizes, dtype=q.dtype).sqrt()[:, None, None]
    w = (torch.einsum("bid,bjd,hd->bhij", q, k, mine) / root).softmax(-1)
    return torch.einsum("bhij,bjd,hd->bid", w, v, mine), w

# %% right: the queries are scaled feature by feature before they are cut, the softmax is written out
def uneven_heads(q, k, v, sizes):
    scale = torch.cat([torch.full((n,), n**-0.5, dtype=q.dtype) for n in sizes])
    qs, ks, vs = ((t * s).split(sizes, dim=-1) for t, s in ((q, scale), (k, 1), (v, 1)))
    scores = torch.stack([a @ b.mT for a, b in zip(qs, ks)], dim=1)
    raised = (scores - scores.amax(-1, keepdim=True)).exp()
    w = raised / raised.sum(-1, keepdim=True)
    return torch.cat([w[:, h] @ c for h, c in enumerate(vs)], dim=-1), w

# %% right: recursion, the first head and then the rest
def uneven_heads(q, k, v, sizes):
    n = sizes[0]
    w = torch.softmax(torch.bmm(q[:, :, :n], k[:, :, :n].permute(0, 2, 1)) * n**-0.5, -1)
    out, w = torch.bmm(w, v[:, :, :n]), w.unsqueeze(1)
    if len(sizes) == 1:
        return out, w
    rest, others = uneven_heads(q[..., n:], k[..., n:], v[..., n:], sizes[1:])
    return torch.cat((out, rest), -1), torch.cat((w, others), 1)
