# %% setup
import torch
import torch.nn.functional as F


# %% wrong: compares the queries of every item with the keys of item 0
def all_pairs(queries, keys):
    return torch.stack([q @ keys[0].T for q in queries])


# %% wrong: computes the table of keys by queries and reshapes it to (B, L_q, L_k) instead of transposing, so the entries stand at wrong places
def all_pairs(queries, keys):
    B, L_q, _ = queries.shape
    table = keys @ queries.transpose(1, 2)
    return table.reshape(B, L_q, keys.shape[1])


# %% wrong: divides by the square root of d, which the dot product does not have
def all_pairs(queries, keys):
    return queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5


# %% wrong: takes the diagonal over the items, which puts the batch axis last, and reshapes to (B, L_q, L_k) instead of moving that axis
def all_pairs(queries, keys):
    table = torch.tensordot(queries, keys, dims=([2], [2]))  # (B, L_q, B, L_k)
    same_item = table.diagonal(dim1=0, dim2=2)
    return same_item.reshape(queries.shape[0], queries.shape[1], keys.shape[1])


# %% right: maps the product of two matrices over the items
def all_pairs(queries, keys):
    return torch.vmap(lambda q, k: F.linear(q, k))(queries, keys)


# %% right: fills a table of the right dtype by three loops
def all_pairs(queries, keys):
    B, L_q, _ = queries.shape
    L_k = keys.shape[1]
    entries = [(queries[b, i] * keys[b, j]).sum() for b in range(B) for i in range(L_q) for j in range(L_k)]
    return torch.stack(entries).view(B, L_q, L_k)
