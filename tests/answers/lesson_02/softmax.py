# %% setup
import torch

# %% wrong: subtracts the largest score of the whole tensor, so a row far below it has only zeros and becomes NaN
def softmax(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True)

# %% wrong: subtracts the mean of the row instead of its maximum, so a row with scores far apart still overflows to NaN
def softmax(scores):
    e = (scores - scores.mean(dim=-1, keepdim=True)).exp()
    return e / e.sum(dim=-1, keepdim=True)

# %% wrong: converts the scores to float32, so the dtype of float64 (or half) scores is not kept
def softmax(scores):
    scores = scores.float()
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)

# %% wrong: clamps the scores to -50..50 against overflow, so differences between larger scores are lost
def softmax(scores):
    e = torch.exp(scores.clamp(-50, 50))
    return e / e.sum(dim=-1, keepdim=True)

# %% two mistakes: does not subtract a maximum, so large scores overflow; and sums over dim=-2, the queries, instead of the last dimension
def softmax(scores):
    e = torch.exp(scores)
    return e / e.sum(dim=-2, keepdim=True)

# %% right: subtracts the logarithm of the sum that logcumsumexp gives in its last column
def softmax(scores):
    return (scores - scores.logcumsumexp(dim=-1)[..., -1:]).exp()

# %% right: every row on its own in a loop, then stacked and put back into shape
def softmax(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        exp = (row - row.max().detach()).exp()
        rows.append(exp / exp.sum())
    return torch.stack(rows).reshape(scores.shape)

# %% setup
import math

import torch

# %% right: takes the first of the sorted scores as shift, and powers of 2 with the scores times log2(e)
def softmax(scores):
    top = scores.sort(dim=-1, descending=True).values[..., :1]
    powers = torch.exp2((scores - top) * math.log2(math.e))
    return powers / powers.sum(dim=-1, keepdim=True)

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: uses torch.softmax, which is off limits
def softmax(scores):
    return torch.softmax(scores, dim=-1)
