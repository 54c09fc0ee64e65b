# %% setup
import torch

# %% right: a list of rows, head by head
def to_neighbors(weight, num_heads):
    d_head = len(weight) // num_heads
    order = []
    for h in range(num_heads):
        for i in range(d_head // 2):
            order += [h * d_head + i, h * d_head + i + d_head // 2]
    return weight[order]

# %% right: written into an empty tensor by steps of two
def to_neighbors(weight, num_heads):
    out = torch.empty_like(weight)
    for new, old in zip(out.chunk(num_heads), weight.chunk(num_heads)):
        new[0::2], new[1::2] = old.chunk(2)
    return out

# %% right: chunks and stacks
def to_neighbors(weight, num_heads):
    heads = []
    for head in weight.chunk(num_heads):
        heads.append(torch.stack(head.chunk(2), dim=1).flatten(0, 1))
    return torch.cat(heads)

# %% right: an index made by arithmetic
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    r = torch.arange(weight.shape[0])
    h, within = r // d, r % d
    return weight[h * d + within // 2 + (within % 2) * (d // 2)]

# %% right: view and permute, as published scripts do
def to_neighbors(weight, num_heads):
    rest = weight.shape[1:]
    return weight.reshape(num_heads, 2, -1, *rest).transpose(1, 2).reshape(weight.shape)

# %% right: the same in numpy
import numpy as np
def to_neighbors(weight, num_heads):
    a = weight.detach().numpy().reshape(num_heads, 2, -1, *weight.shape[1:])
    return torch.from_numpy(np.ascontiguousarray(np.swapaxes(a, 1, 2)).reshape(weight.shape))

# %% wrong: the other direction
def to_neighbors(weight, num_heads):
    return weight.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)

# %% wrong: the other direction, by slices
def to_neighbors(weight, num_heads):
    return torch.cat([torch.cat([head[0::2], head[1::2]]) for head in weight.chunk(num_heads)])

# %% wrong: one head of all rows
def to_neighbors(weight, num_heads):
    return torch.stack(weight.chunk(2), dim=1).flatten(0, 1)

# %% wrong: hands the weight back
def to_neighbors(weight, num_heads):
    return weight.clone()

# %% wrong: reshaped without a transpose
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    return weight.reshape(num_heads, d // 2, 2, *weight.shape[1:]).reshape(weight.shape)

# %% wrong: partners exchanged in each pair
def to_neighbors(weight, num_heads):
    return torch.cat([torch.stack(head.chunk(2)[::-1], dim=1).flatten(0, 1) for head in weight.chunk(num_heads)])

# %% wrong: the halves of each head exchanged
def to_neighbors(weight, num_heads):
    return torch.cat([torch.cat(head.chunk(2)[::-1]) for head in weight.chunk(num_heads)])

# %% wrong: keeps the axis of the heads
def to_neighbors(weight, num_heads):
    return weight.unflatten(0, (num_heads, 2, -1)).transpose(1, 2).flatten(1, 2)

# %% wrong: only the first head
def to_neighbors(weight, num_heads):
    d = len(weight) // num_heads
    out = weight.clone()
    out[:d] = torch.stack(weight[:d].chunk(2), dim=1).flatten(0, 1)
    return out

# %% wrong: writes into the weight itself
def to_neighbors(weight, num_heads):
    old = weight.clone()
    for new, head in zip(weight.chunk(num_heads), old.chunk(num_heads)):
        new[0::2], new[1::2] = head.chunk(2)
    return weight

# %% wrong: heads dealt out in turn
def to_neighbors(weight, num_heads):
    return weight.unflatten(0, (-1, num_heads)).transpose(0, 1).unflatten(1, (2, -1)).transpose(1, 2).flatten(0, 2)

# %% wrong: columns in place of rows
def to_neighbors(weight, num_heads):
    per_head = weight.unflatten(-1, (num_heads, 2, -1))
    return per_head.transpose(-3, -2).flatten(-3)

# %% wrong: a bias is not thought of
def to_neighbors(weight, num_heads):
    rows, columns = weight.shape
    return weight.view(num_heads, 2, -1, columns).transpose(1, 2).reshape(rows, columns)

# %% two mistakes: the other direction, and one head of all rows
def to_neighbors(weight, num_heads):
    return torch.cat([weight[0::2], weight[1::2]])

# %% two mistakes: the axis of the heads kept, and the other direction
def to_neighbors(weight, num_heads):
    return weight.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(1, 2)
