# %% setup
import torch
import torch.nn.functional as F

# %% wrong: compares only query i with key i of each item, which gives (B, L) and fails for unequal numbers of queries and keys
def batch_cosines(queries, keys):
    return (F.normalize(queries, dim=-1) * F.normalize(keys, dim=-1)).sum(dim=-1)

# %% wrong: cuts negative cosines off at 0
def batch_cosines(queries, keys):
    queries = F.normalize(queries, dim=-1)
    keys = F.normalize(keys, dim=-1)
    return (queries @ keys.mT).clamp(0, 1)

# %% two mistakes: no longer normalizes the queries; and returns (B, L_k, L_q)
def batch_cosines(queries, keys):
    keys = F.normalize(keys, dim=-1)
    return torch.einsum("bqd,bkd->bkq", queries, keys)

# %% wrong: queries and keys are divided by their lengths in place, so the caller's tensors are changed
def batch_cosines(queries, keys):
    queries /= queries.norm(dim=-1, keepdim=True)
    keys /= keys.norm(dim=-1, keepdim=True)
    return torch.bmm(queries, keys.transpose(1, 2))

# %% wrong: mends the transpose but loses the keys' normalization
def batch_cosines(queries, keys):
    return F.normalize(queries, dim=-1) @ keys.transpose(-2, -1)

# %% wrong: swaps batch and entries (axes 0 and 2), as the broken function
def batch_cosines(queries, keys):
    return F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).transpose(0, 2)

# %% right: multiplies broadcast queries and keys entry by entry, then divides by both lengths
def batch_cosines(queries, keys):
    q, k = queries.unsqueeze(2), keys.unsqueeze(1)
    return (q * k).sum(dim=-1) / (q.norm(dim=-1) * k.norm(dim=-1))

# %% right: computes the dot products by einsum first and divides by the outer product of the lengths afterwards
def batch_cosines(queries, keys):
    products = torch.einsum("bqd,bkd->bqk", queries, keys)
    q_len = queries.norm(dim=-1).clamp(min=1e-12)
    k_len = keys.norm(dim=-1).clamp(min=1e-12)
    return products / q_len[:, :, None] / k_len[:, None, :]

# %% right: dot products by einsum, divided by both lengths as a column and a row
def batch_cosines(queries, keys):
    products = torch.einsum("bid,bjd->bij", queries, keys)
    return products / queries.norm(dim=-1)[:, :, None] / keys.norm(dim=-1)[:, None, :]

# %% setup
import numpy as np
import torch

# %% wrong: loops over the items in numpy
def batch_cosines(queries, keys):
    out = []
    for q, k in zip(queries.numpy(), keys.numpy()):
        q = q / np.linalg.norm(q, axis=1, keepdims=True)
        k = k / np.linalg.norm(k, axis=1, keepdims=True)
        out.append(q @ k.T)
    return torch.tensor(np.array(out))

# %% wrong: one query after another, all items at once, in numpy
def batch_cosines(queries, keys):
    q, k = queries.numpy(), keys.numpy()
    q = q / np.sqrt((q**2).sum(-1, keepdims=True))
    k = k / np.sqrt((k**2).sum(-1, keepdims=True))
    rows = [(q[:, i : i + 1] * k).sum(-1) for i in range(q.shape[1])]
    return torch.from_numpy(np.stack(rows, axis=1))

# %% right: in numpy, all at once
def batch_cosines(queries, keys):
    def unit(x):
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    return torch.from_numpy(unit(queries.numpy()) @ unit(keys.numpy()).swapaxes(1, 2))
