# %% setup
import torch
import torch.nn.functional as F

# %% wrong: the vectors are normalized along the positions (dim=1) instead of along their coordinates
def batch_cosines(queries, keys):
    queries = F.normalize(queries, dim=1)
    keys = F.normalize(keys, dim=1)
    return queries @ keys.transpose(-2, -1)

# %% wrong: the queries are not normalized, so the results are cosines times the length of the query
def batch_cosines(queries, keys):
    keys = F.normalize(keys, dim=-1)
    return queries @ keys.mT

# %% wrong: queries and keys are divided by their lengths in place, so the caller's tensors are changed
def batch_cosines(queries, keys):
    queries /= queries.norm(dim=-1, keepdim=True)
    keys /= keys.norm(dim=-1, keepdim=True)
    return torch.bmm(queries, keys.transpose(1, 2))

# %% wrong: the query lengths are lined up with the keys (unsqueeze(1) instead of unsqueeze(2)), so it fails unless L_q == L_k or one of them is 1, and for L_q == L_k > 1 entry [i, j] is divided by the length of query j instead of query i
def batch_cosines(queries, keys):
    products = queries @ keys.transpose(1, 2)
    q_norm = queries.norm(dim=-1)
    k_norm = keys.norm(dim=-1)
    return products / (q_norm.unsqueeze(1) * k_norm.unsqueeze(1))

# %% right: einsum products divided by the outer product of the lengths
def batch_cosines(queries, keys):
    products = torch.einsum("bqd,bkd->bqk", queries, keys)
    lengths = torch.einsum("bq,bk->bqk", queries.norm(dim=-1), keys.norm(dim=-1))
    return products / lengths

# %% wrong: loops: a loop over the batch, each item by two matrices and .T
def batch_cosines(queries, keys):
    items = []
    for q, k in zip(queries, keys):
        q = q / q.square().sum(dim=1, keepdim=True).sqrt()
        k = k / k.square().sum(dim=1, keepdim=True).sqrt()
        items.append(q @ k.T)
    return torch.stack(items)
