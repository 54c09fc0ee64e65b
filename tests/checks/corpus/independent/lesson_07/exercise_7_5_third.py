# %% setup
import torch
from course_utils.masks import causal_mask


# %% wrong: halves as it goes, mean = (mean + next head) / 2, which is the mean only for groups of one or two heads
def pool_heads(weight, num_heads, num_kv_heads):
    group = num_heads // num_kv_heads
    heads = weight.view(num_heads, -1, weight.shape[1])
    pooled = []
    for j in range(num_kv_heads):
        mean = heads[j * group]
        for h in range(j * group + 1, (j + 1) * group):
            mean = (mean + heads[h]) / 2
        pooled.append(mean)
    return torch.cat(pooled)


# %% wrong: divides the sum of each group by num_kv_heads instead of by the number of heads in the group, right when the two are equal
def pool_heads(weight, num_heads, num_kv_heads):
    d_out, d_in = weight.shape
    d_head = d_out // num_heads
    groups = weight.view(num_kv_heads, num_heads // num_kv_heads, d_head, d_in)
    return (groups.sum(dim=1) / num_kv_heads).reshape(num_kv_heads * d_head, d_in)


# %% wrong: pools neighboring rows with adaptive_avg_pool1d, so features of the same head are averaged with each other; right only for d_head 1 or equal numbers of heads
def pool_heads(weight, num_heads, num_kv_heads):
    d_head = weight.shape[0] // num_heads
    return torch.nn.functional.adaptive_avg_pool1d(weight.T[None], num_kv_heads * d_head)[0].T


# %% wrong: writes the means into a new float32 tensor, so a float64 weight comes back as float32
def pool_heads(weight, num_heads, num_kv_heads):
    d_head = weight.shape[0] // num_heads
    group = num_heads // num_kv_heads
    pooled = torch.zeros(num_kv_heads * d_head, weight.shape[1])
    for j in range(num_kv_heads):
        rows = weight[j * group * d_head : (j + 1) * group * d_head]
        pooled[j * d_head : (j + 1) * d_head] = rows.view(group, d_head, -1).mean(dim=0)
    return pooled


# %% right: multiplies from the left by a pooling matrix, the Kronecker product of the groups' averaging rows with the identity
def pool_heads(weight, num_heads, num_kv_heads):
    group = num_heads // num_kv_heads
    average = torch.eye(num_kv_heads, dtype=weight.dtype).repeat_interleave(group, dim=1) / group
    return torch.kron(average, torch.eye(weight.shape[0] // num_heads, dtype=weight.dtype)) @ weight


# %% right: adds every row to its target row with index_add and divides by the size of the group
def pool_heads(weight, num_heads, num_kv_heads):
    group = num_heads // num_kv_heads
    d_head = weight.shape[0] // num_heads
    row = torch.arange(weight.shape[0])
    target = (row // d_head) // group * d_head + row % d_head
    return weight.new_zeros(num_kv_heads * d_head, weight.shape[1]).index_add(0, target, weight) / group
