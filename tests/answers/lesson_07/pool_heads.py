# %% setup
import torch

from course_utils.masks import causal_mask

# %% wrong: groups heads j, j + H_kv, j + 2 H_kv, ... instead of neighboring heads
def pool_heads(weight, num_heads, num_kv_heads):
    d_head = weight.shape[0] // num_heads
    heads = weight.view(num_heads // num_kv_heads, num_kv_heads, d_head, -1)
    return heads.mean(dim=0).reshape(num_kv_heads * d_head, -1)

# %% wrong: adds the heads of a group up instead of taking their mean
def pool_heads(weight, num_heads, num_kv_heads):
    d_head = weight.shape[0] // num_heads
    group = num_heads // num_kv_heads
    return weight.reshape(num_kv_heads, group, d_head, -1).sum(dim=1).reshape(num_kv_heads * d_head, -1)

# %% wrong: adds into a view of the weight, so the matrix of the caller is changed by the call
def pool_heads(weight, num_heads, num_kv_heads):
    d_head = weight.shape[0] // num_heads
    group = num_heads // num_kv_heads
    heads = weight.reshape(num_kv_heads, group, d_head, -1)
    mean = heads[:, 0]
    for i in range(1, group):
        mean += heads[:, i]
    mean /= group
    return mean.reshape(num_kv_heads * d_head, -1)

# %% two mistakes: groups heads j, j + H_kv, j + 2 H_kv, ... instead of neighboring heads; and divides their sum by the number of key/value heads instead of by the group size
def pool_heads(weight, num_heads, num_kv_heads):
    heads = weight.chunk(num_heads, dim=0)
    return torch.cat([sum(heads[j::num_kv_heads]) / num_kv_heads for j in range(num_kv_heads)])

# %% right: multiplies with a small averaging matrix, made larger by a Kronecker product
def pool_heads(weight, num_heads, num_kv_heads):
    group = num_heads // num_kv_heads
    d_head = weight.shape[0] // num_heads
    kwargs = {"dtype": weight.dtype, "device": weight.device}
    average = torch.kron(torch.eye(num_kv_heads, **kwargs), torch.full((1, group), 1 / group, **kwargs))
    return torch.kron(average, torch.eye(d_head, **kwargs)) @ weight

# %% setup
import torch
from course_utils.masks import causal_mask

# %% wrong: writes the means into a new float32 tensor, so a float64 weight comes back as float32
def pool_heads(weight, num_heads, num_kv_heads):
    d_head = weight.shape[0] // num_heads
    group = num_heads // num_kv_heads
    pooled = torch.zeros(num_kv_heads * d_head, weight.shape[1])
    for j in range(num_kv_heads):
        rows = weight[j * group * d_head : (j + 1) * group * d_head]
        pooled[j * d_head : (j + 1) * d_head] = rows.view(group, d_head, -1).mean(dim=0)
    return pooled

# %% right: adds every row to its target row with index_add and divides by the size of the group
def pool_heads(weight, num_heads, num_kv_heads):
    group = num_heads // num_kv_heads
    d_head = weight.shape[0] // num_heads
    row = torch.arange(weight.shape[0])
    target = (row // d_head) // group * d_head + row % d_head
    return weight.new_zeros(num_kv_heads * d_head, weight.shape[1]).index_add(0, target, weight) / group

# %% setup
import torch

# %% wrong: the columns are cut into heads in place of the rows, and pooled
def pool_heads(weight, num_heads, num_kv_heads):
    rows, cols = weight.shape
    heads = weight.T.reshape(num_kv_heads, num_heads // num_kv_heads, -1, rows)
    return heads.mean(1).reshape(-1, rows).T

# %% wrong: the median of each group (of an even number of heads: the lower of the two in the middle)
def pool_heads(weight, num_heads, num_kv_heads):
    d = weight.shape[0] // num_heads
    return weight.view(num_kv_heads, -1, d, weight.shape[1]).median(1).values.flatten(0, 1)

# %% right: unflatten, and the mean over the axis of the group
def pool_heads(weight, num_heads, num_kv_heads):
    G = num_heads // num_kv_heads
    return weight.unflatten(0, (num_kv_heads, G, -1)).mean(1).flatten(0, 1)
