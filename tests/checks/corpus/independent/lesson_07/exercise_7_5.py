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


# %% wrong: averages neighboring rows instead of whole heads, which is the same only when d_head is 1
def pool_heads(weight, num_heads, num_kv_heads):
    rows, d_in = weight.shape
    group = num_heads // num_kv_heads
    return weight.reshape(rows // group, group, d_in).mean(dim=1)


# %% wrong: keeps the first head of each group instead of the mean
def pool_heads(weight, num_heads, num_kv_heads):
    d_head = weight.shape[0] // num_heads
    heads = weight.reshape(num_heads, d_head, -1)
    return heads[:: num_heads // num_kv_heads].flatten(0, 1)


# %% wrong: takes num_kv_heads for the size of a group, which is right only when H equals H_kv squared
def pool_heads(weight, num_heads, num_kv_heads):
    d_head = weight.shape[0] // num_heads
    heads = weight.reshape(num_heads, d_head, -1)
    pooled = [heads[j : j + num_kv_heads].mean(dim=0) for j in range(0, num_heads, num_kv_heads)]
    return torch.cat(pooled, dim=0)


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


# %% right: chunks the matrix into heads and stacks them, group by group
def pool_heads(weight, num_heads, num_kv_heads):
    heads = weight.chunk(num_heads, dim=0)
    group = num_heads // num_kv_heads
    return torch.cat([torch.stack(heads[j * group : (j + 1) * group]).mean(0) for j in range(num_kv_heads)])


# %% right: adds every group^-1 share with index_add, row by row
def pool_heads(weight, num_heads, num_kv_heads):
    rows, d_in = weight.shape
    d_head, group = rows // num_heads, num_heads // num_kv_heads
    row = torch.arange(rows, device=weight.device)
    target = row // (d_head * group) * d_head + row % d_head
    return weight.new_zeros(num_kv_heads * d_head, d_in).index_add(0, target, weight / group)
