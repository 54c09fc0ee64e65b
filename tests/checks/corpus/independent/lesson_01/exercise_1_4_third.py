# %% setup
import torch
import torch.nn.functional as F


# %% wrong: gives the batch of the keys a letter of its own, so the products with the keys of all items are added up
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,ckd->bqk", queries, keys)


# %% wrong: gives the entries of queries and keys two letters, so it multiplies the sum of a query by the sum of a key
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,bke->bqk", queries, keys)


# %% wrong: brings the keys into the shape (B, d, L_k) by a view, which scrambles them
def all_pairs_einsum(queries, keys):
    B, L_k, d = keys.shape
    return torch.einsum("bqd,bdk->bqk", queries, keys.reshape(B, d, L_k))


# %% wrong: adds up over the keys instead of the entries, so it gives (B, L_q, d)
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,bkd->bqd", queries, keys)


# %% two mistakes: has the keys before the queries in the result; and does not tie the batch axes, so all items of the keys are added up
def all_pairs_einsum(queries, keys):
    return torch.einsum("bqd,ckd->bkq", queries, keys)


# %% right: adds up over the entries, one coordinate at a time, a column of queries times a row of keys
def all_pairs_einsum(queries, keys):
    columns = queries.unbind(dim=-1)
    rows = keys.unbind(dim=-1)
    return sum(c.unsqueeze(2) * r.unsqueeze(1) for c, r in zip(columns, rows))


# %% wrong: loops: one einsum for each item of the batch, its letters given as numbers
def all_pairs_einsum(queries, keys):
    items = [torch.einsum(q, [0, 2], k, [1, 2], [0, 1]) for q, k in zip(queries, keys)]
    return torch.stack(items, dim=0)
