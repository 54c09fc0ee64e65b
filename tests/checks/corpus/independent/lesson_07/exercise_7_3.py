# %% setup
import torch

from course_utils.masks import causal_mask

# %% wrong: repeats the whole row of heads (0, 1, 0, 1) instead of each head in a row (0, 0, 1, 1)
def repeat_kv(x, num_repeats):
    return x.repeat(1, num_repeats, 1, 1)


# %% wrong: repeats the positions (axis 2) instead of the heads
def repeat_kv(x, num_repeats):
    return x.repeat_interleave(num_repeats, dim=2)


# %% wrong: expands the head axis, which works only with a single key/value head (or one repeat) and is a Python error otherwise
def repeat_kv(x, num_repeats):
    B, H_kv, L, d_head = x.shape
    return x.expand(B, H_kv * num_repeats, L, d_head)


# %% wrong: puts the copies on a new axis before the heads, so flattening gives the heads in the order 0, 1, 0, 1
def repeat_kv(x, num_repeats):
    B, H_kv, L, d_head = x.shape
    x = x[:, None].expand(B, num_repeats, H_kv, L, d_head)
    return x.reshape(B, H_kv * num_repeats, L, d_head)


# %% wrong: uses view to join batch and heads, a Python error for heads that come from a transpose (not contiguous) when the batch is larger than 1
def repeat_kv(x, num_repeats):
    B, H_kv, L, d_head = x.shape
    flat = x.view(B * H_kv, L, d_head)
    flat = flat.repeat_interleave(num_repeats, dim=0)
    return flat.view(B, H_kv * num_repeats, L, d_head)


# %% wrong: stacks the copies behind the positions, so that after the reshape positions of one head are mixed over its copies
def repeat_kv(x, num_repeats):
    B, H_kv, L, d_head = x.shape
    copies = torch.stack([x] * num_repeats, dim=3)  # (B, H_kv, L, num_repeats, d_head)
    return copies.reshape(B, H_kv * num_repeats, L, d_head)


# %% two mistakes: gives query head h the head h modulo H_kv instead of h divided by num_repeats; and keeps only the first sequence of the batch
def repeat_kv(x, num_repeats):
    heads = []
    for h in range(x.shape[1] * num_repeats):
        heads.append(x[0, h % x.shape[1]])
    return torch.stack(heads)[None]


# %% right: picks heads by index with index_select and a floor division
def repeat_kv(x, num_repeats):
    partner = torch.arange(x.size(1) * num_repeats, device=x.device) // num_repeats
    return torch.index_select(x, 1, partner)


# %% right: einsum of an outer product with ones, then flatten
def repeat_kv(x, num_repeats):
    ones = torch.ones(num_repeats, dtype=x.dtype, device=x.device)
    return torch.einsum("bhld,r->bhrld", x, ones).flatten(1, 2)


# %% right: cuts the heads apart and joins num_repeats references of each again with cat
def repeat_kv(x, num_repeats):
    pieces = []
    for head in x.split(1, dim=1):
        pieces.extend([head] * num_repeats)
    return torch.cat(pieces, dim=1)
