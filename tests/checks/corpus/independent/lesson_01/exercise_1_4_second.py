# %% setup
import torch
import torch.nn.functional as F

# %% wrong: the output letters are in the order b k q, so queries and keys are swapped
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,bkd->bkq", queries, keys)

# %% wrong: the keys have their own batch letter that is summed away, so each query meets the keys of all items added up, right only for a batch of 1
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,ckd->bqk", queries, keys)

# %% wrong: the feature axes have two different letters, so it multiplies the sum of the query with the sum of the key, right only for d == 1
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,bke->bqk", queries, keys)

# %% wrong: the batch axis is taken to be the second one, so items and positions are confused (an error unless L_q == L_k, and a wrong shape or wrong pairs then)
def all_pairs_einsum(queries, keys):
    return torch.einsum("qbd,kbd->bqk", queries, keys)

# %% two mistakes: the batch is summed away so that all items hold the same sums; and the scores are divided by the square root of d
def all_pairs_einsum(queries, keys):
    B, _, d = queries.shape
    total = torch.einsum("bqd,bkd->qk", queries, keys) / d ** 0.5
    return total.expand(B, -1, -1)

# %% right: one einsum without a sum (all products kept apart), then a sum over the last axis
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,bkd->bqkd", queries, keys).sum(-1)

# %% wrong: loops: one einsum for each item, with an ellipsis
def all_pairs_einsum(queries, keys):
    return torch.stack([torch.einsum("i...,j...->ij...", q, k).sum(-1) for q, k in zip(queries, keys)])
