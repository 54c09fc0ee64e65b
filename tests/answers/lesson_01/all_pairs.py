# %% setup
import torch
import torch.nn.functional as F

# %% wrong: returns (B, L_k, L_q): rows are keys and columns are queries
def all_pairs(queries, keys):
    return keys @ queries.transpose(1, 2)

# %% wrong: gives the batch axes different letters, so each query is multiplied with the keys summed over all items of the batch, right only for B = 1
def all_pairs(queries, keys):
    return torch.einsum("bqd,ckd->bqk", queries, keys)

# %% wrong: divides the dot products by the square root of d, though no scaling is asked for
def all_pairs(queries, keys):
    return queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5

# %% wrong: lets the loop over the keys run only to L_q, so the columns of further keys stay 0 (and it fails when there are fewer keys than queries)
def all_pairs(queries, keys):
    B, L_q, d = queries.shape
    out = torch.zeros(B, L_q, keys.shape[1], dtype=queries.dtype)
    for b in range(B):
        for i in range(L_q):
            for j in range(L_q):
                out[b, i, j] = (queries[b, i] * keys[b, j]).sum()
    return out

# %% two mistakes: normalizes the vectors, which gives cosines and not dot products; and returns (B, L_k, L_q)
def all_pairs(queries, keys):
    queries = F.normalize(queries, dim=-1)
    keys = F.normalize(keys, dim=-1)
    return torch.bmm(keys, queries.transpose(1, 2))

# %% wrong: the buffer has L_q columns instead of L_k, so it fails for L_k > L_q and leaves columns of zeros for L_k < L_q
def all_pairs(queries, keys):
    B, L_q, d = queries.shape
    scores = torch.zeros(B, L_q, L_q, dtype=queries.dtype)
    for b in range(B):
        for i in range(L_q):
            for j in range(keys.shape[1]):
                scores[b, i, j] = torch.dot(queries[b, i], keys[b, j])
    return scores

# %% wrong: computes the table of keys by queries and reshapes it to (B, L_q, L_k) instead of transposing, so the entries stand at wrong places
def all_pairs(queries, keys):
    B, L_q, _ = queries.shape
    table = keys @ queries.transpose(1, 2)
    return table.reshape(B, L_q, keys.shape[1])

# %% wrong: takes the diagonal over the items, which puts the batch axis last, and reshapes to (B, L_q, L_k) instead of moving that axis
def all_pairs(queries, keys):
    table = torch.tensordot(queries, keys, dims=([2], [2]))  # (B, L_q, B, L_k)
    same_item = table.diagonal(dim1=0, dim2=2)
    return same_item.reshape(queries.shape[0], queries.shape[1], keys.shape[1])

# %% right: broadcasts to (B, L_q, L_k, d) and adds up the products
def all_pairs(queries, keys):
    return (queries[:, :, None, :] * keys[:, None, :, :]).sum(dim=-1)

# %% right: multiplies keys by queries and swaps the two axes afterwards
def all_pairs(queries, keys):
    return torch.matmul(keys, queries.mT).mT

# %% right: one key position at a time, stacked as the last axis
def all_pairs(queries, keys):
    return torch.stack([(queries * k[:, None]).sum(-1) for k in keys.unbind(1)], dim=2)
