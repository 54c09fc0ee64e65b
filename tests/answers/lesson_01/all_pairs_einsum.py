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

# %% wrong: loops: one einsum for each item, with an ellipsis
def all_pairs_einsum(queries, keys):
    return torch.stack([torch.einsum("i...,j...->ij...", q, k).sum(-1) for q, k in zip(queries, keys)])

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

# %% setup
import numpy as np
import torch

# %% wrong: loops over the items in numpy
def all_pairs_einsum(queries, keys):
    result = [np.einsum("id,jd->ij", q, k) for q, k in zip(queries.numpy(), keys.numpy())]
    return torch.from_numpy(np.stack(result))

# %% wrong: loops over lists of plain numbers
def all_pairs_einsum(queries, keys):
    return torch.tensor([[[sum(a * b for a, b in zip(q, k)) for k in ks] for q in qs]
                         for qs, ks in zip(queries.tolist(), keys.tolist())])

# %% right: one einsum of numpy
def all_pairs_einsum(queries, keys):
    return torch.from_numpy(np.einsum("bid,bjd->bij", queries.numpy(), keys.numpy(), optimize=True))
