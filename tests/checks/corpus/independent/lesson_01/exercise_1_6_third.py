# %% setup
import torch
import torch.nn.functional as F


# %% wrong: transposes the keys first and then normalizes the last axis, so each coordinate is normalized over the keys
def batch_cosines(queries, keys):
    queries = F.normalize(queries, dim=-1)
    keys = F.normalize(keys.transpose(1, 2), dim=-1)
    return queries @ keys


# %% wrong: calls F.normalize without dim, which normalizes axis 1, the positions
def batch_cosines(queries, keys):
    return F.normalize(queries) @ F.normalize(keys).transpose(-2, -1)


# %% wrong: fills a table of 32-bit zeros, so the result for 64-bit arguments is not of their dtype
def batch_cosines(queries, keys):
    result = torch.zeros(queries.shape[0], queries.shape[1], keys.shape[1])
    for b in range(queries.shape[0]):
        result[b] = F.normalize(queries[b], dim=-1) @ F.normalize(keys[b], dim=-1).T
    return result


# %% wrong: divides the arguments by their lengths in place, so the cosines are right but queries and keys are changed
def batch_cosines(queries, keys):
    queries /= queries.norm(dim=-1, keepdim=True)
    keys /= keys.norm(dim=-1, keepdim=True)
    return queries @ keys.mT


# %% right: divides the dot products by the two lengths, all three by einsum
def batch_cosines(queries, keys):
    dots = torch.einsum("bqd,bkd->bqk", queries, keys)
    length_q = torch.einsum("bqd,bqd->bq", queries, queries).sqrt()
    length_k = torch.einsum("bkd,bkd->bk", keys, keys).sqrt()
    return dots / length_q[:, :, None] / length_k[:, None, :]


# %% wrong: loops: for each item one product of the transposed matrices, turned back
def batch_cosines(queries, keys):
    items = []
    for q, k in zip(queries.unbind(), keys.unbind()):
        columns_q = q.T / torch.linalg.vector_norm(q, dim=1)
        columns_k = k.T / torch.linalg.vector_norm(k, dim=1)
        items.append((columns_k.T @ columns_q).T)
    return torch.stack(items)

# %% wrong: mends the transpose but loses the keys' normalization
def batch_cosines(queries, keys):
    return F.normalize(queries, dim=-1) @ keys.transpose(-2, -1)
