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

# %% setup
import torch
from course_utils.masks import causal_mask

# %% wrong: Kronecker product with ones; PyTorch's kron stops on an x that comes from a transpose, as split heads do
def repeat_kv(x, num_repeats):
    return torch.kron(x, x.new_ones(1, num_repeats, 1, 1))

# %% wrong: tiles the heads (1 2 1 2) and then sorts the numbers along the head axis, which gives 1 1 2 2 only where the numbers of the heads are in ascending order already
def repeat_kv(x, num_repeats):
    tiled = x.repeat(1, num_repeats, 1, 1)
    return tiled.sort(dim=1).values

# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.masks import causal_mask

# %% wrong: fills a new float32 tensor, so the dtype of x is lost (float64 becomes float32)
def repeat_kv(x, num_repeats):
    B, H_kv, L, d_head = x.shape
    out = torch.zeros(B, H_kv * num_repeats, L, d_head)
    for h in range(H_kv * num_repeats):
        out[:, h] = x[:, h // num_repeats]
    return out

# %% right: index_select with a list of head numbers built in Python
def repeat_kv(x, num_repeats):
    index = torch.tensor([h for h in range(x.shape[1]) for _ in range(num_repeats)], device=x.device)
    return x.index_select(1, index)

# %% setup
import torch

# %% wrong: repeat_interleave without an axis, which flattens first
def repeat_kv(x, num_repeats):
    return x.repeat_interleave(num_repeats)

# %% wrong: takes the number of repeats for the number of heads that come out
def repeat_kv(x, num_repeats):
    return x.repeat_interleave(max(num_repeats // x.shape[1], 1), dim=1)

# %% wrong: the numbers go through numpy, no gradient comes back
def repeat_kv(x, num_repeats):
    import numpy as np
    return torch.from_numpy(np.repeat(x.detach().numpy(), num_repeats, axis=1))

# %% right: an index by integer division
def repeat_kv(x, num_repeats):
    return x[:, torch.arange(x.shape[1] * num_repeats) // num_repeats]
