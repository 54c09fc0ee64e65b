# %% setup
import torch

# %% wrong: the other direction
def to_neighbors(weight, num_heads):
    return weight.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)

# %% wrong: one head of all rows
def to_neighbors(weight, num_heads):
    return torch.stack(weight.chunk(2), dim=1).flatten(0, 1)

# %% wrong: hands the weight back
def to_neighbors(weight, num_heads):
    return weight.clone()

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

# %% wrong: heads take turns too, the heads' rows are mixed
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    w = weight.reshape(num_heads, 2, d // 2, -1)
    return w.permute(2, 1, 0, 3).reshape(weight.shape)

# %% right: written into an empty tensor by steps of two
def to_neighbors(weight, num_heads):
    out = torch.empty_like(weight)
    for new, old in zip(out.chunk(num_heads), weight.chunk(num_heads)):
        new[0::2], new[1::2] = old.chunk(2)
    return out

# %% right: view and permute, as published scripts do
def to_neighbors(weight, num_heads):
    rest = weight.shape[1:]
    return weight.reshape(num_heads, 2, -1, *rest).transpose(1, 2).reshape(weight.shape)

# %% right: chunks and stacks
def to_neighbors(weight, num_heads):
    heads = []
    for head in weight.chunk(num_heads, dim=0):
        a, b = head.chunk(2, dim=0)
        heads.append(torch.stack([a, b], dim=1).reshape(head.shape))
    return torch.cat(heads)
