# %% setup
import torch

# %% wrong: three chunks first, as if all queries came before all keys
def split_packed(qkv, num_heads):
    parts = qkv.chunk(3, dim=-1)
    return tuple(part.unflatten(-1, (num_heads, -1)).transpose(1, 2) for part in parts)

# %% wrong: one view that puts the heads before the positions
def split_packed(qkv, num_heads):
    B, L, size = qkv.shape
    heads = qkv.reshape(B, num_heads, L, size // num_heads)
    return heads.chunk(3, dim=-1)

# %% wrong: leaves the heads behind the positions
def split_packed(qkv, num_heads):
    B, L, size = qkv.shape
    heads = qkv.reshape(B, L, num_heads, size // num_heads)
    return heads.chunk(3, dim=-1)

# %% wrong: takes every third feature of a head as its query
def split_packed(qkv, num_heads):
    heads = qkv.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    return heads[..., 0::3], heads[..., 1::3], heads[..., 2::3]

# %% two mistakes: three chunks first; and the features dealt out in turn
def split_packed(qkv, num_heads):
    q, k, v = qkv.chunk(3, dim=-1)
    return tuple(part.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2) for part in (q, k, v))

# %% right: heads first, then three chunks of each head's features
def split_packed(qkv, num_heads):
    heads = qkv.unflatten(-1, (num_heads, -1)).transpose(1, 2)
    return heads.chunk(3, dim=-1)

# %% right: slices gathered in lists
def split_packed(qkv, num_heads):
    size = qkv.shape[-1] // (3 * num_heads)
    pieces = qkv.split(size, dim=-1)
    return tuple(torch.stack(pieces[i::3], dim=1) for i in range(3))
