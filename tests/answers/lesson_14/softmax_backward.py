# %% setup
import torch

# %% wrong: the derivative of a sigmoid, each weight for itself
def softmax_backward(weights, d_weights):
    return d_weights * weights * (1 - weights)

# %% wrong: takes off the plain mean
def softmax_backward(weights, d_weights):
    return weights * (d_weights - d_weights.mean(-1, keepdim=True))

# %% wrong: forward again, a softmax of the derivatives
def softmax_backward(weights, d_weights):
    return torch.softmax(d_weights, dim=-1) - weights

# %% wrong: a table of all keys by all keys for each row
def softmax_backward(weights, d_weights):
    table = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return (table @ d_weights[..., None])[..., 0]

# %% wrong: the sum without keepdim is lined up with the keys
def softmax_backward(weights, d_weights):
    return weights * (d_weights - (weights * d_weights).sum(-1))

# %% two mistakes: sums over the queries; and multiplies the mean by nothing
def softmax_backward(weights, d_weights):
    return weights * d_weights - (weights * d_weights).sum(0, keepdim=True)

# %% right: two products
def softmax_backward(weights, d_weights):
    product = weights * d_weights
    return product - weights * product.sum(-1, keepdim=True)

# %% right: row by row with numpy
def softmax_backward(weights, d_weights):
    p, d = weights.numpy().reshape(-1, weights.shape[-1]), d_weights.numpy().reshape(-1, weights.shape[-1])
    rows = [row * (e - row @ e) for row, e in zip(p, d)]
    return torch.stack([torch.from_numpy(row) for row in rows]).reshape(weights.shape)


# %% setup
import torch
from course_utils.linear_attention import feature_map
import math
import torch.nn.functional as F

# %% wrong: only the diagonal of the table, P_i (1 - P_i)
def softmax_backward(weights, d_weights):
    return d_weights * weights * (1 - weights)
# %% wrong: the sum that is taken off is not weighted
def softmax_backward(weights, d_weights):
    total = d_weights.sum(dim=-1, keepdim=True)
    return weights * (d_weights - total)
# %% wrong: the sum runs over the whole tensor instead of one row
def softmax_backward(weights, d_weights):
    dot = (weights * d_weights).sum()
    return weights * (d_weights - dot)
# %% wrong: the sum is not multiplied by P_i
def softmax_backward(weights, d_weights):
    g = weights * d_weights
    return g - g.sum(-1, keepdim=True)
# %% wrong: the sum leaves out the term j = i a second time
def softmax_backward(weights, d_weights):
    product = weights * d_weights
    others = product.sum(dim=-1, keepdim=True) - product  # the terms j != i
    return weights * (d_weights - others)
# %% wrong: keepdim forgotten, so the row sums lie along the columns
def softmax_backward(weights, d_weights):
    inner = torch.einsum("...k,...k->...", weights, d_weights)
    return weights * (d_weights - inner)
# %% wrong: divides by the weights, NaN where one is 0
def softmax_backward(weights, d_weights):
    product = weights * d_weights
    rest = product.sum(dim=-1, keepdim=True) * weights
    gradient = product - rest
    relative = gradient / weights
    return relative * weights
# %% right: the two cases of j apart, j != i by sum minus own term
def softmax_backward(weights, d_weights):
    own = weights * d_weights
    from_others = own.sum(-1, keepdim=True) - own
    return own * (1 - weights) - weights * from_others
# %% right: flattened to rows, a batched dot product and addcmul
def softmax_backward(weights, d_weights):
    n = weights.shape[-1]
    rows = weights.reshape(-1, 1, n)
    slopes = d_weights.reshape(-1, n, 1)
    mean = torch.bmm(rows, slopes).reshape(*weights.shape[:-1], 1)
    return torch.addcmul(weights * d_weights, weights, mean.expand_as(weights), value=-1)
