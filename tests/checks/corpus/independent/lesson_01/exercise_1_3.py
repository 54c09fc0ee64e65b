# %% setup
import torch
import torch.nn.functional as F

# %% wrong: returns (B, L_k, L_q): rows are keys and columns are queries
def all_pairs(queries, keys):
    return keys @ queries.transpose(1, 2)

# %% wrong: brings the keys to (B, d, L_k) by reshape instead of a transpose, which scrambles them
def all_pairs(queries, keys):
    B, L_k, d = keys.shape
    return queries @ keys.reshape(B, d, L_k)

# %% wrong: gives the batch axes different letters, so each query is multiplied with the keys summed over all items of the batch, right only for B = 1
def all_pairs(queries, keys):
    return torch.einsum("bqd,ckd->bqk", queries, keys)

# %% wrong: divides the dot products by the square root of d, though no scaling is asked for
def all_pairs(queries, keys):
    return queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5

# %% wrong: multiplies the queries of every item with the keys of item 0, right only for B = 1
def all_pairs(queries, keys):
    return torch.stack([q @ keys[0].T for q in queries])

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

# %% right: broadcasts to (B, L_q, L_k, d) and adds up the products
def all_pairs(queries, keys):
    return (queries[:, :, None, :] * keys[:, None, :, :]).sum(dim=-1)

# %% right: loops over keys and builds the result column by column
def all_pairs(queries, keys):
    columns = []
    for j in range(keys.shape[1]):
        columns.append(torch.bmm(queries, keys[:, j].unsqueeze(-1)).squeeze(-1))
    return torch.stack(columns, dim=-1)

# %% right: multiplies keys by queries and swaps the two axes afterwards
def all_pairs(queries, keys):
    return torch.matmul(keys, queries.mT).mT
