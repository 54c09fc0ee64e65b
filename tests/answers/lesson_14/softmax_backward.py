# %% setup
import torch

def of_sink(weights, d_weights):
    return -(1 - weights.sum(-1)) * (weights * d_weights).sum(-1)

# %% wrong: the derivative of a sigmoid, each weight for itself
def by_scores(weights, d_weights):
    return d_weights * weights * (1 - weights)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: takes off the plain mean
def by_scores(weights, d_weights):
    return weights * (d_weights - d_weights.mean(-1, keepdim=True))

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: forward again, a softmax of the derivatives
def by_scores(weights, d_weights):
    return torch.softmax(d_weights, dim=-1) - weights

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: a table of all keys by all keys for each row
def by_scores(weights, d_weights):
    table = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return (table @ d_weights[..., None])[..., 0]

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: the sum without keepdim is lined up with the keys
def by_scores(weights, d_weights):
    return weights * (d_weights - (weights * d_weights).sum(-1))

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% two mistakes: sums over the queries; and multiplies the mean by nothing
def by_scores(weights, d_weights):
    return weights * d_weights - (weights * d_weights).sum(0, keepdim=True)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% right: two products
def by_scores(weights, d_weights):
    product = weights * d_weights
    return product - weights * product.sum(-1, keepdim=True)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% right: row by row with numpy
def by_scores(weights, d_weights):
    p, d = weights.numpy().reshape(-1, weights.shape[-1]), d_weights.numpy().reshape(-1, weights.shape[-1])
    rows = [row * (e - row @ e) for row, e in zip(p, d)]
    return torch.stack([torch.from_numpy(row) for row in rows]).reshape(weights.shape)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% setup
import torch
from course_utils.linear_attention import feature_map
import math
import torch.nn.functional as F

def of_sink(weights, d_weights):
    return -(1 - weights.sum(-1)) * (weights * d_weights).sum(-1)

# %% wrong: only the diagonal of the table, P_i (1 - P_i)
def by_scores(weights, d_weights):
    return d_weights * weights * (1 - weights)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: the sum that is taken off is not weighted
def by_scores(weights, d_weights):
    total = d_weights.sum(dim=-1, keepdim=True)
    return weights * (d_weights - total)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: the sum runs over the whole tensor instead of one row
def by_scores(weights, d_weights):
    dot = (weights * d_weights).sum()
    return weights * (d_weights - dot)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: the sum is not multiplied by P_i
def by_scores(weights, d_weights):
    g = weights * d_weights
    return g - g.sum(-1, keepdim=True)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: the sum leaves out the term j = i a second time
def by_scores(weights, d_weights):
    product = weights * d_weights
    others = product.sum(dim=-1, keepdim=True) - product  # the terms j != i
    return weights * (d_weights - others)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: keepdim forgotten, so the row sums lie along the columns
def by_scores(weights, d_weights):
    inner = torch.einsum("...k,...k->...", weights, d_weights)
    return weights * (d_weights - inner)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: divides by the weights, NaN where one is 0
def by_scores(weights, d_weights):
    product = weights * d_weights
    rest = product.sum(dim=-1, keepdim=True) * weights
    gradient = product - rest
    relative = gradient / weights
    return relative * weights

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% right: the two cases of j apart, j != i by sum minus own term
def by_scores(weights, d_weights):
    own = weights * d_weights
    from_others = own.sum(-1, keepdim=True) - own
    return own * (1 - weights) - weights * from_others

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% right: flattened to rows, a batched dot product and addcmul
def by_scores(weights, d_weights):
    n = weights.shape[-1]
    rows = weights.reshape(-1, 1, n)
    slopes = d_weights.reshape(-1, n, 1)
    mean = torch.bmm(rows, slopes).reshape(*weights.shape[:-1], 1)
    return torch.addcmul(weights * d_weights, weights, mean.expand_as(weights), value=-1)

def softmax_backward(weights, d_weights):
    return by_scores(weights, d_weights), of_sink(weights, d_weights)

# %% wrong: the sink is forgotten
def softmax_backward(weights, d_weights):
    return weights * (d_weights - (weights * d_weights).sum(-1, keepdim=True))

# %% wrong: the sink's derivative is 0
def softmax_backward(weights, d_weights):
    mean = (weights * d_weights).sum(-1, keepdim=True)
    return weights * (d_weights - mean), torch.zeros_like(mean[..., 0])

# %% wrong: the keys' weights are brought to a sum of 1
def softmax_backward(weights, d_weights):
    part = weights / weights.sum(-1, keepdim=True)
    d_scores = part * (d_weights - (part * d_weights).sum(-1, keepdim=True))
    return d_scores, -d_scores.sum(-1)

# %% wrong: the sink's derivative keeps an axis
def softmax_backward(weights, d_weights):
    d_scores = weights * (d_weights - (weights * d_weights).sum(-1, keepdim=True))
    return d_scores, -d_scores.sum(-1, keepdim=True)

# %% right: all derivatives of a row sum to 0
def softmax_backward(weights, d_weights):
    d_scores = weights * (d_weights - (weights * d_weights).sum(-1, keepdim=True))
    return d_scores, -d_scores.sum(-1)

# %% right: the sink as one more key, whose derivative is 0
def softmax_backward(weights, d_weights):
    all_weights = torch.cat((weights, 1 - weights.sum(-1, keepdim=True)), dim=-1)
    all_d = torch.cat((d_weights, torch.zeros_like(d_weights[..., :1])), dim=-1)
    d_scores = all_weights * (all_d - (all_weights * all_d).sum(-1, keepdim=True))
    return d_scores[..., :-1], d_scores[..., -1]
