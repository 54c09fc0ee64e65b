# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.masks import causal_mask


# %% wrong: groups the heads in steps (0, H_kv, 2 H_kv, ...) instead of neighbors, so wrong heads are averaged
def pool_heads(weight, num_heads, num_kv_heads):
    d_head = weight.shape[0] // num_heads
    grouped = weight.reshape(num_heads // num_kv_heads, num_kv_heads, d_head, weight.shape[1])
    return grouped.mean(dim=0).reshape(num_kv_heads * d_head, -1)


# %% wrong: divides the sum of a group by the number of key/value heads instead of the size of the group, right only if both are equal
def pool_heads(weight, num_heads, num_kv_heads):
    d_head = weight.shape[0] // num_heads
    heads = weight.reshape(num_kv_heads, -1, d_head, weight.shape[1])
    return (heads.sum(dim=1) / num_kv_heads).flatten(0, 1)


# %% wrong: takes d_head from the number of columns (d_in // num_heads), which is right only if the matrix is square
def pool_heads(weight, num_heads, num_kv_heads):
    d_in = weight.shape[1]
    d_head = d_in // num_heads
    group = num_heads // num_kv_heads
    rows = []
    for j in range(num_kv_heads):
        heads = [weight[(j * group + i) * d_head:(j * group + i + 1) * d_head] for i in range(group)]
        rows.append(torch.stack(heads).mean(dim=0))
    return torch.cat(rows)


# %% wrong: averages neighboring rows, as if each head had one row, right only for d_head 1
def pool_heads(weight, num_heads, num_kv_heads):
    group = num_heads // num_kv_heads
    return weight.reshape(-1, group, weight.shape[1]).mean(dim=1)


# %% right: multiplies with an averaging matrix (Kronecker product)
def pool_heads(weight, num_heads, num_kv_heads):
    group = num_heads // num_kv_heads
    d_head = weight.shape[0] // num_heads
    eye_kv = torch.eye(num_kv_heads, dtype=weight.dtype)
    row = torch.full((1, group), 1.0 / group, dtype=weight.dtype)
    average = torch.kron(torch.kron(eye_kv, row), torch.eye(d_head, dtype=weight.dtype))
    return average @ weight


# %% right: loops with slices and running sums, joined with cat
def pool_heads(weight, num_heads, num_kv_heads):
    group = num_heads // num_kv_heads
    heads = weight.chunk(num_heads, dim=0)
    pooled = []
    for j in range(0, num_heads, group):
        pooled.append(sum(heads[j:j + group]) / group)
    return torch.cat(pooled, dim=0)
