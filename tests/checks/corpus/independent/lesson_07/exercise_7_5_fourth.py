# %% setup
import torch


# %% right: unflatten, and the mean over the axis of the group
def pool_heads(weight, num_heads, num_kv_heads):
    G = num_heads // num_kv_heads
    return weight.unflatten(0, (num_kv_heads, G, -1)).mean(1).flatten(0, 1)


# %% right: every G-th head from a different start, added up
def pool_heads(weight, num_heads, num_kv_heads):
    G = num_heads // num_kv_heads
    heads = weight.unflatten(0, (num_heads, -1))
    return (sum(heads[start::G] for start in range(G)) / G).flatten(0, 1)


# %% wrong: the columns are cut into heads in place of the rows, and pooled
def pool_heads(weight, num_heads, num_kv_heads):
    rows, cols = weight.shape
    heads = weight.T.reshape(num_kv_heads, num_heads // num_kv_heads, -1, rows)
    return heads.mean(1).reshape(-1, rows).T


# %% wrong: the median of each group (of an even number of heads: the lower of the two in the middle)
def pool_heads(weight, num_heads, num_kv_heads):
    d = weight.shape[0] // num_heads
    return weight.view(num_kv_heads, -1, d, weight.shape[1]).median(1).values.flatten(0, 1)


# %% wrong: the mean is given back to every head of its group, so nothing gets smaller
def pool_heads(weight, num_heads, num_kv_heads):
    d, G = weight.shape[0] // num_heads, num_heads // num_kv_heads
    mean = weight.view(num_kv_heads, G, d, -1).mean(1, keepdim=True)
    return mean.expand(-1, G, -1, -1).reshape(weight.shape)


# %% wrong: the axes of head and feature exchanged, so that features far apart are averaged
def pool_heads(weight, num_heads, num_kv_heads):
    d, G = weight.shape[0] // num_heads, num_heads // num_kv_heads
    return weight.view(num_kv_heads, d, G, -1).mean(2).reshape(num_kv_heads * d, -1)
