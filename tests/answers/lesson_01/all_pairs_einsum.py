# %% setup
import torch
import torch.nn.functional as F

def all_pairs(queries, keys):
    return queries @ keys.transpose(-2, -1)

# %% wrong: the output letters are in the wrong order, so the result is (B, L_k, L_q)
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,bkd->bkq", queries, keys)

# %% wrong: leaves out the arrow, so the repeated letter b is summed over too and the result has no batch axis
def all_pairs_einsum(queries, keys):
    return torch.einsum("bid,bjd", queries, keys)

# %% wrong: uses different letters for the last axes, so the sums of the two vectors are multiplied instead of their coordinates
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,bke->bqk", queries, keys)

# %% wrong: uses different letters for the two batch axes, so the keys are summed over all items of the batch, right only for B = 1
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,akd->bqk", queries, keys)

# %% wrong: reshapes the keys to (B, d, L_k) instead of transposing them, which scrambles their numbers
def all_pairs_einsum(queries, keys):
    keys = keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1])
    return torch.einsum("bqd,bdk->bqk", queries, keys)

# %% wrong: uses bmm, a matrix product, which is off limits here, instead of einsum
def all_pairs_einsum(queries, keys):
    return torch.bmm(queries, keys.permute(0, 2, 1))

# %% right: gives the axes as lists of numbers
def all_pairs_einsum(queries, keys):
    return torch.einsum(queries, [0, 1, 3], keys, [0, 2, 3], [0, 1, 2])

# %% right: writes the batch axis as an ellipsis
def all_pairs_einsum(queries, keys):
    return torch.einsum("... i d, ... j d -> ... i j", queries, keys)

# %% right: passes the keys first and the tensors as a list
def all_pairs_einsum(queries, keys):
    return torch.einsum("BKD,BQD->BQK", [keys, queries])

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: the batch axis is taken to be the second one, so items and positions are confused (an error unless L_q == L_k, and a wrong shape or wrong pairs then)
def all_pairs_einsum(queries, keys):
    return torch.einsum("qbd,kbd->bqk", queries, keys)

# %% wrong: loops: one einsum for each item, with an ellipsis
def all_pairs_einsum(queries, keys):
    return torch.stack([torch.einsum("i...,j...->ij...", q, k).sum(-1) for q, k in zip(queries, keys)])

# %% wrong: adds up over the keys instead of the entries, so it gives (B, L_q, d)
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,bkd->bqd", queries, keys)

# %% two mistakes: has the keys before the queries in the result; and does not tie the batch axes, so all items of the keys are added up
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,ckd->bkq", queries, keys)

# %% setup
import torch

# %% wrong: uses @, which is off limits
def all_pairs_einsum(queries, keys):
    return queries @ keys.mT

# %% wrong: keeps the letter d, so nothing is summed, (B, L_q, L_k, d)
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,bkd->bqkd", queries, keys)
