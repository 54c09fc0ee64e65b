# %% setup
import torch


# %% right: an index list head by head
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    rows = []
    for h in range(num_heads):
        for i in range(d // 2):
            rows += [h * d + i, h * d + i + d // 2]
    return weight[rows]


# %% right: writes into a new tensor with slices of step two
def to_neighbors(weight, num_heads):
    new = torch.empty_like(weight)
    d = len(weight) // num_heads
    for start in range(0, len(weight), d):
        head = weight[start : start + d]
        new[start : start + d : 2] = head[: d // 2]
        new[start + 1 : start + d : 2] = head[d // 2 :]
    return new


# %% right: chunks and stacks
def to_neighbors(weight, num_heads):
    heads = []
    for head in weight.chunk(num_heads, dim=0):
        a, b = head.chunk(2, dim=0)
        heads.append(torch.stack([a, b], dim=1).reshape(head.shape))
    return torch.cat(heads)


# %% right: view and swapaxes by shape
def to_neighbors(weight, num_heads):
    d_head = weight.shape[0] // num_heads
    parts = weight.reshape(num_heads, 2, d_head // 2, -1)
    return parts.swapaxes(1, 2).reshape(weight.shape)


# %% wrong: the way back, from neighbors to halves
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    w = weight.reshape(num_heads, d // 2, 2, -1)
    return w.transpose(1, 2).reshape(weight.shape)


# %% wrong: all rows at once, as if there were one head
def to_neighbors(weight, num_heads):
    half = weight.shape[0] // 2
    return torch.stack([weight[:half], weight[half:]], dim=1).reshape(weight.shape)


# %% wrong: permutes the columns, which belong to the inputs
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    one = torch.stack([torch.arange(d // 2), torch.arange(d // 2) + d // 2], 1).flatten()
    order = torch.cat([one + h * d for h in range(num_heads)])
    if weight.dim() == 1:
        return weight[order]
    return weight[:, order % weight.shape[1]]


# %% wrong: permutes only the first head
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    new = weight.clone()
    new[0:d:2], new[1:d:2] = weight[: d // 2], weight[d // 2 : d]
    return new


# %% wrong: assigns the gathered rows the wrong way, new[order] = weight
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    order = torch.stack([torch.arange(d // 2), torch.arange(d // 2) + d // 2], 1).flatten()
    new = torch.zeros_like(weight)
    for h in range(num_heads):
        new[h * d + order] = weight[h * d : (h + 1) * d]
    return new


# %% wrong: the second half comes first in every pair
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    halves = weight.reshape(num_heads, 2, d // 2, -1).flip(1)
    return halves.transpose(1, 2).reshape(weight.shape)


# %% wrong: works in place on the argument
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    for h in range(num_heads):
        head = weight[h * d : (h + 1) * d].clone()
        weight[h * d : (h + 1) * d : 2] = head[: d // 2]
        weight[h * d + 1 : (h + 1) * d : 2] = head[d // 2 :]
    return weight


# %% wrong: heads take turns too, the heads' rows are mixed
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    w = weight.reshape(num_heads, 2, d // 2, -1)
    return w.permute(2, 1, 0, 3).reshape(weight.shape)


# %% wrong: a bias is handed back unchanged
def to_neighbors(weight, num_heads):
    if weight.dim() == 1:
        return weight.clone()
    d = weight.shape[0] // num_heads
    return weight.reshape(num_heads, 2, d // 2, -1).transpose(1, 2).reshape(weight.shape)


# %% wrong: through NumPy, and so float32 only
def to_neighbors(weight, num_heads):
    d = weight.shape[0] // num_heads
    w = torch.tensor(weight.tolist()).reshape(num_heads, 2, d // 2, -1)
    return w.transpose(1, 2).reshape(weight.shape)
