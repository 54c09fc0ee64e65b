# %% setup
import torch
from torch import nn

# %% wrong: takes the last axis for all queries, then all keys, then all values, and cuts each into heads
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    d_head = width // 3 // num_heads
    parts = qkv.chunk(3, dim=-1)
    return tuple(p.reshape(B, L, num_heads, d_head).transpose(1, 2) for p in parts)

# %% right: cuts with view, which a transposed tensor allows too, since the last axis alone is cut
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    d_head = width // (3 * num_heads)
    x = qkv.view(B, L, num_heads, 3, d_head)
    q, k, v = x.permute(3, 0, 2, 1, 4)
    return q, k, v

# %% wrong: takes each feature's query, key and value as neighbors, cutting a head into (d_head, 3)
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    d_head = width // (3 * num_heads)
    x = qkv.reshape(B, L, num_heads, d_head, 3)
    q, k, v = x.permute(4, 0, 2, 1, 3)
    return q, k, v

# %% wrong: cuts rightly but leaves the heads behind the tokens: (B, L, num_heads, d_head)
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    x = qkv.reshape(B, L, num_heads, 3, width // (3 * num_heads))
    q, k, v = x.unbind(dim=3)
    return q, k, v

# %% wrong: cuts rightly, then reshapes to (B, num_heads, L, d_head) where it should move axes
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    d_head = width // (3 * num_heads)
    x = qkv.reshape(B, L, num_heads, 3, d_head)
    q, k, v = x[:, :, :, 0], x[:, :, :, 1], x[:, :, :, 2]
    shape = (B, num_heads, L, d_head)
    return q.reshape(shape), k.reshape(shape), v.reshape(shape)

# %% wrong: reshapes straight to (B, num_heads, L, 3, d_head), with no move at all
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    d_head = width // (3 * num_heads)
    x = qkv.reshape(B, num_heads, L, 3, d_head)
    return x[..., 0, :], x[..., 1, :], x[..., 2, :]

# %% wrong: reshapes straight to the shape of the three results, (3, B, num_heads, L, d_head)
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    d_head = width // 3 // num_heads
    q, k, v = qkv.reshape(3, B, num_heads, L, d_head)
    return q, k, v

# %% wrong: forgets the 3 in d_head and cuts the whole width into heads, then slices the first, second and third d_head features from each without d_model / num_heads
def split_packed(qkv, num_heads):
    B, L, d_model = qkv.shape
    d_head = d_model // num_heads
    x = qkv.reshape(B, L, num_heads, d_head).transpose(1, 2)
    return x[..., :d_head], x[..., d_head : 2 * d_head], x[..., 2 * d_head :]

# %% wrong: gives back keys and values in the wrong order: q, v, k
def split_packed(qkv, num_heads):
    B, L, _ = qkv.shape
    x = qkv.reshape(B, L, num_heads, 3, -1).permute(3, 0, 2, 1, 4)
    return x[0], x[2], x[1]

# %% wrong: loops over the heads, which the exercise forbids
def split_packed(qkv, num_heads):
    d_head = qkv.shape[-1] // (3 * num_heads)
    q, k, v = [], [], []
    for h in range(num_heads):
        start = 3 * h * d_head
        q.append(qkv[..., start : start + d_head])
        k.append(qkv[..., start + d_head : start + 2 * d_head])
        v.append(qkv[..., start + 2 * d_head : start + 3 * d_head])
    return torch.stack(q, 1), torch.stack(k, 1), torch.stack(v, 1)

# %% two mistakes: takes the last axis for all queries, then all keys, then all values; and leaves the heads behind the tokens
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    q, k, v = qkv.reshape(B, L, 3, num_heads, width // (3 * num_heads)).unbind(2)
    return q, k, v

# %% two mistakes: cuts each head into (d_head, 3); and gives the results as (B, L, num_heads, d_head)
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    x = qkv.reshape(B, L, num_heads, width // (3 * num_heads), 3)
    return x[..., 0], x[..., 1], x[..., 2]

# %% right: cuts into heads first, moves them, and chunks each head in three
def split_packed(qkv, num_heads):
    heads = qkv.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    return heads.chunk(3, dim=-1)

# %% right: picks the columns of q, k and v by index arithmetic
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    d_head = width // (3 * num_heads)
    starts = torch.arange(num_heads)[:, None] * 3 * d_head
    columns = starts + torch.arange(d_head)
    out = []
    for which in range(3):
        out.append(qkv[:, :, columns + which * d_head].permute(0, 2, 1, 3))
    return out

# %% right: makes the tensor contiguous and gives the three as one tensor that unpacks
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    x = qkv.contiguous().view(B, L, num_heads, 3, width // 3 // num_heads)
    return x.movedim(3, 0).transpose(2, 3)

# %% right: strided slices of the blocks of d_head features
def split_packed(qkv, num_heads):
    B, L, width = qkv.shape
    blocks = torch.stack(qkv.split(width // (3 * num_heads), dim=-1), dim=1)
    return blocks[:, 0::3], blocks[:, 1::3], blocks[:, 2::3]
