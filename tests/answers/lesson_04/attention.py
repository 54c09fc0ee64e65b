# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: no softmax at all, the scaled scores are the weights
def attention(query, key, value):
    weights = query @ key.mT / query.shape[-1] ** 0.5
    return weights @ value, weights

# %% wrong: an einsum in which one letter stands for the positions of the queries' features and of the keys
def attention(query, key, value):
    scores = torch.einsum("bid,bdj->bij", query, key) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
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

# %% wrong: divides by d_k, not by its root
def attention(query, key, value):
    w = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1], dim=-1)
    return w @ value, w
