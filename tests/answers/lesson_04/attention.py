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

# %% wrong: scales the query in place, so the caller's query is changed
def attention(query, key, value):
    query /= query.shape[-1] ** 0.5
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return weights @ value, weights

# %% wrong: multiplies the values with the raw scores, and hands back the right weights beside that
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1)
    return scores @ value, torch.softmax(scores / query.shape[-1] ** 0.5, dim=-1)

# %% wrong: the output is made with weights of unscaled scores, the weights handed back are right
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1)
    return torch.softmax(scores, dim=-1) @ value, torch.softmax(scores / query.shape[-1] ** 0.5, dim=-1)

# %% right: einsum with dots, the scale shared half and half between query and key
def attention(query, key, value):
    root = query.shape[-1] ** 0.25
    scores = torch.einsum("...qd,...kd->...qk", query / root, key / root)
    weights = scores.softmax(-1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights

# %% right: everything by broadcasting and sums, the keys one axis before the entries, a softmax by hand with each row's maximum
def attention(query, key, value):
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) / query.shape[-1] ** 0.5
    e = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    weights = e / e.sum(-1, keepdim=True)
    output = (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2)
    return output, weights

# %% right: the root as torch.sqrt of a tensor, which is float32 whatever the query is
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / torch.sqrt(torch.tensor(query.shape[-1]))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: transpose(1, 2) is right for one leading axis, not for two
def attention(query, key, value):
    w = torch.softmax(query @ key.transpose(1, 2) / query.shape[-1] ** 0.5, dim=-1)
    return w @ value, w

# %% wrong: divides after the softmax
def attention(query, key, value):
    w = torch.softmax(query @ key.transpose(-2, -1), dim=-1) / query.shape[-1] ** 0.5
    return w @ value, w

# %% wrong: divides by d_k, not by its root
def attention(query, key, value):
    w = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1], dim=-1)
    return w @ value, w
