# %% setup
import math
from statistics import median

import torch
from torch import nn

# %% wrong: mixes right, but reshapes with heads still before positions, which scrambles both
def mix_heads(weights, values):
    B, H, n, m = weights.shape
    mixed = torch.einsum("bhij,bhjd->bhid", weights, values)
    return mixed.reshape(B, n, -1)

# %% wrong: weights read transposed, row j of the weights for position i
def mix_heads(weights, values):
    return torch.einsum("bhji,bhjd->bihd", weights, values).flatten(2)

# %% wrong: interleaves the heads, first number of each head, then the second of each
def mix_heads(weights, values):
    return torch.einsum("bhij,bhjd->bidh", weights, values).flatten(2)

# %% wrong: sums over the heads, because h is missing after the arrow
def mix_heads(weights, values):
    return torch.einsum("bhij,bhjd->bid", weights, values)

# %% wrong: lays the heads one below the other, along the positions
def mix_heads(weights, values):
    mixed = torch.einsum("bhij,bhjd->bhid", weights, values)
    return torch.cat(list(mixed.unbind(1)), dim=1)

# %% wrong: returns (B, n, H, d), never merges the last two axes
def mix_heads(weights, values):
    return torch.einsum("bhij,bhjd->bihd", weights, values)

# %% wrong: right numbers, but with the matrix product that is off limits
def mix_heads(weights, values):
    return (weights @ values).transpose(1, 2).flatten(2)

# %% wrong: takes the softmax of the weights before it mixes
def mix_heads(weights, values):
    w = torch.softmax(weights, dim=-1)
    return torch.einsum("bhij,bhjd->bihd", w, values).flatten(2)

# %% wrong: averages over the positions that give, instead of summing
def mix_heads(weights, values):
    mixed = (weights[..., None] * values[:, :, None]).mean(dim=3)
    return mixed.transpose(1, 2).flatten(2)

# %% wrong: swaps the axes and then calls view, which fails because they are not in order in memory
def mix_heads(weights, values):
    B, H, n, m = weights.shape
    mixed = torch.einsum("bhij,bhjd->bhid", weights, values)
    return mixed.transpose(1, 2).view(B, n, H * values.shape[-1])

# %% wrong: the head has another letter in the values, so every head takes from the values of all heads
def mix_heads(weights, values):
    return torch.einsum("bhij,bgjd->bihd", weights, values).flatten(2)

# %% wrong: the values have letter i, so each position gets its own row times the sum of its weights
def mix_heads(weights, values):
    return torch.einsum("bhij,bhid->bihd", weights, values).flatten(2)

# %% wrong: flattens the last two axes of (B, H, n, d), so it returns (B, H, n * d)
def mix_heads(weights, values):
    return torch.einsum("bhij,bhjd->bhid", weights, values).flatten(2)

# %% wrong: loop over the heads that returns only the last head
def mix_heads(weights, values):
    for h in range(weights.shape[1]):
        out = torch.einsum("bij,bjd->bid", weights[:, h], values[:, h])
    return out

# %% wrong: divides the weights by their row sums, although they should be taken as they are
def mix_heads(weights, values):
    w = weights / weights.sum(dim=-1, keepdim=True)
    return torch.einsum("bhij,bhjd->bihd", w, values).flatten(2)

# %% wrong: sums over the position that takes instead of the one that gives
def mix_heads(weights, values):
    mixed = (weights[..., None] * values[:, :, None]).sum(dim=2)
    return mixed.transpose(1, 2).flatten(2)

# %% two mistakes: weights read transposed; and the heads interleaved
def mix_heads(weights, values):
    return torch.einsum("bhji,bhjd->bidh", weights, values).flatten(2)

# %% two mistakes: softmax of the weights; and reshaped with heads still before positions
def mix_heads(weights, values):
    B, H, n, _ = weights.shape
    mixed = torch.einsum("bhij,bhjd->bhid", weights.softmax(-1), values)
    return mixed.reshape(B, n, H * values.size(-1))

# %% right: a loop over the heads, results joined along the last axis
def mix_heads(weights, values):
    parts = [
        torch.einsum("bij,bjd->bid", w, v)
        for w, v in zip(weights.unbind(1), values.unbind(1))
    ]
    return torch.cat(parts, dim=-1)

# %% right: adds up outer products, one giving position at a time
def mix_heads(weights, values):
    B, H, n, m = weights.shape
    out = values.new_zeros(B, n, H, values.shape[-1])
    for j in range(m):
        out = out + weights[:, :, :, j].transpose(1, 2)[..., None] * values[:, None, :, j]
    return out.reshape(B, n, -1)

# %% right: broadcasting with axes (B, n, H, m, d), sum over m, view
def mix_heads(weights, values):
    products = weights.permute(0, 2, 1, 3).unsqueeze(-1) * values.unsqueeze(1)
    out = products.sum(3)
    return out.view(out.shape[0], out.shape[1], -1)

# %% right: einsum in the notation with lists of numbers, reshape by -1
def mix_heads(weights, values):
    out = torch.einsum(weights, [0, 1, 2, 3], values, [0, 1, 3, 4], [0, 2, 1, 4])
    return out.reshape(*out.shape[:2], -1)
