# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: swaps axes 1 and 2 of the key, which are the last two only if there is one leading axis; with two leading axes it fails or gives other scores
def attention(query, key, value):
    scores = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    return weights @ value, weights

# %% wrong: divides the scores by the root of d_v, the size of the values, instead of d_k
def attention(query, key, value):
    d = value.shape[-1]
    weights = torch.softmax(query @ key.transpose(-2, -1) / d**0.5, dim=-1)
    return weights @ value, weights

# %% wrong: subtracts the largest score of the whole tensor before exp, so rows far below it underflow and give 0 / 0 = NaN
def attention(query, key, value):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    e = torch.exp(scores - scores.max())
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% wrong: hands back weights that are detached, so no gradient flows through the second result
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    output = weights @ value
    return output, weights.detach()

# %% right: einsum with an ellipsis, and the softmax by hand with the maximum of each row subtracted
def attention(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())
    weights = e / e.sum(dim=-1, keepdim=True)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights

# %% right: one query after the other, with an elementwise product summed over d_k
def attention(query, key, value):
    d_k = query.shape[-1]
    outputs, rows = [], []
    for i in range(query.shape[-2]):
        scores = (query[..., i : i + 1, :] * key).sum(-1) / d_k**0.5  # (..., L_k)
        row = torch.softmax(scores, dim=-1)
        rows.append(row)
        outputs.append((row.unsqueeze(-1) * value).sum(-2))
    return torch.stack(outputs, dim=-2), torch.stack(rows, dim=-2)
