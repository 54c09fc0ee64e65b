# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: forgets to divide the scores by sqrt(d_k)
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: divides by the square root of d_v (the width of the values) instead of d_k, right only where the two are equal
def attention(query, key, value):
    d = value.shape[-1]
    scores = query @ key.transpose(-2, -1) / d**0.5
    weights = scores.softmax(dim=-1)
    return weights @ value, weights

# %% wrong: exchanges axes 1 and 2 of the key instead of the last two, which is right with one leading axis only
def attention(query, key, value):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(1, 2)) / d_k**0.5
    weights = F.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights

# %% wrong: a softmax by hand that does not subtract the maximum, so it overflows for scores above 100 and gives 0/0 below -100
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    e = torch.exp(scores)
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% wrong: a softmax by hand that subtracts the maximum of all scores instead of each row's own, so rows far below it become 0/0
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    e = torch.exp(scores - scores.max())
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% wrong: takes the softmax over the queries (axis -2) instead of over the keys
def attention(query, key, value):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-2)
    return weights @ value, weights

# %% two mistakes: divides by d_k instead of its square root; and returns the weights first and the output second
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1]
    weights = torch.softmax(scores, dim=-1)
    output = weights @ value
    return weights, output

# %% right: einsum with dots, the scale shared half and half between query and key
def attention(query, key, value):
    root = query.shape[-1] ** 0.25
    scores = torch.einsum("...qd,...kd->...qk", query / root, key / root)
    weights = scores.softmax(-1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights

# %% right: the leading axes are flattened to one, then a loop over its items, and log-sum-exp in place of softmax
def attention(query, key, value):
    lead = query.shape[:-2]
    outputs, all_weights = [], []
    for q, k, v in zip(query.flatten(0, -3), key.flatten(0, -3), value.flatten(0, -3)):
        s = q.mm(k.t()) * (q.shape[1] ** -0.5)
        w = torch.exp(s - torch.logsumexp(s, dim=1, keepdim=True))
        all_weights.append(w)
        outputs.append(w.mm(v))
    output = torch.stack(outputs).reshape(*lead, query.shape[-2], value.shape[-1])
    weights = torch.stack(all_weights).reshape(*lead, query.shape[-2], key.shape[-2])
    return output, weights

# %% right: everything by broadcasting and sums, the keys one axis before the entries, a softmax by hand with each row's maximum
def attention(query, key, value):
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) / query.shape[-1] ** 0.5
    e = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    weights = e / e.sum(-1, keepdim=True)
    output = (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2)
    return output, weights
