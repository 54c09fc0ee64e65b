# %% setup
import math
from statistics import median

import torch
from torch import nn

# %% wrong: multiplies x by real without an axis for the rows, so the sentences' marks line up with rows
def shares(x, real):
    y = x * real
    return y / y.sum(dim=-1, keepdim=True)

# %% wrong: gives real its new axis at the end, so that it marks rows and not columns
def shares(x, real):
    y = x * real[:, :, None]
    return y / y.sum(dim=-1, keepdim=True)

# %% wrong: divides by the sum of the whole row with padding, and sets padding to 0 afterwards
def shares(x, real):
    y = x / x.sum(dim=-1, keepdim=True)
    return y * real[:, None, :]

# %% wrong: sums down the columns (over the rows) instead of along each row
def shares(x, real):
    y = x * real[:, None, :]
    total = y.sum(dim=1, keepdim=True)
    return torch.where(total > 0, y / total, 0.0)

# %% wrong: sums over the columns without keepdim, so the sums line up with the columns
def shares(x, real):
    y = x * real.unsqueeze(1)
    return y / y.sum(dim=-1)

# %% wrong: takes a softmax of the real tokens instead of dividing by the sum
def shares(x, real):
    return torch.softmax(x.masked_fill(~real[:, None, :], float("-inf")), dim=-1)

# %% wrong: sets padding to 0 inside x itself; the shares are right
def shares(x, real):
    x *= real[:, None, :]
    return x / x.sum(dim=-1, keepdim=True)

# %% wrong: divides by the sum of the whole sentence, all rows together
def shares(x, real):
    y = x * real[:, None, :]
    return y / y.sum(dim=(1, 2), keepdim=True)

# %% wrong: right numbers by a loop over the sentences, so more operations than allowed
def shares(x, real):
    rows = []
    for b in range(x.shape[0]):
        y = x[b] * real[b]
        rows.append(y / y.sum(dim=-1, keepdim=True))
    return torch.stack(rows)

# %% wrong: right numbers by two loops over sentences and rows, only real columns filled
def shares(x, real):
    out = torch.zeros_like(x)
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            out[b, i, real[b]] = x[b, i, real[b]] / x[b, i, real[b]].sum()
    return out

# %% wrong: keeps padding and hides the real tokens, the mask the wrong way round
def shares(x, real):
    y = x.masked_fill(real[:, None, :], 0)
    return y / y.sum(dim=-1, keepdim=True).clamp(min=1e-9)

# %% wrong: divides every number by its row's sum and forgets padding altogether
def shares(x, real):
    return x / x.sum(dim=-1, keepdim=True)

# %% wrong: leaves padding out of the sum, but not out of the result: padding gets a share on top
def shares(x, real):
    total = (x * real[:, None, :]).sum(dim=-1, keepdim=True)
    return x / total

# %% wrong: divides by the number of real tokens instead of by their sum
def shares(x, real):
    real = real[:, None, :]
    return x * real / real.sum(dim=-1, keepdim=True)

# %% wrong: puts 1e-9 in place of padding, so padding doesn't get exactly 0
def shares(x, real):
    y = x.masked_fill(~real[:, None, :], 1e-9)
    return y / y.sum(dim=-1, keepdim=True)

# %% wrong: takes the mask of the first sentence for all sentences
def shares(x, real):
    y = x * real[0]
    return y / y.sum(dim=-1, keepdim=True)

# %% wrong: converts to float32 on the way, so x of another dtype comes back as float32
def shares(x, real):
    y = x.float() * real[:, None, :].float()
    return y / y.sum(dim=-1, keepdim=True)

# %% wrong: cuts the padding off with boolean indexing, which flattens everything into one list
def shares(x, real):
    y = x[real[:, None, :].expand_as(x)]
    return y / y.sum()

# %% two mistakes: sums over the rows instead of the columns; and sums before padding is set to 0
def shares(x, real):
    y = x / x.sum(dim=1, keepdim=True)
    return y * real[:, None, :]

# %% two mistakes: multiplies in place, so that x changes; and divides by the sum of the whole sentence
def shares(x, real):
    x *= real[:, None, :]
    return x / x.sum(dim=(1, 2), keepdim=True)

# %% right: a softmax of the logarithms with padding at minus infinity
def shares(x, real):
    logs = torch.log(x).masked_fill(~real[:, None, :], float("-inf"))
    return torch.softmax(logs, dim=-1)

# %% right: the sums of the rows as a matrix product with the marks
def shares(x, real):
    marks = real.to(x.dtype)
    total = x @ marks[:, :, None]
    return x / total * marks[:, None, :]

# %% right: einsum for the sums, where for the padding
def shares(x, real):
    total = torch.einsum("bnm,bm->bn", x, real.to(x.dtype)).unsqueeze(-1)
    return torch.where(real.unsqueeze(-2), x / total, torch.zeros((), dtype=x.dtype))

# %% right: a clone that is changed in place, rows moved to the last axis
def shares(x, real):
    y = x.clone().transpose(1, 2)
    y[~real] = 0
    y /= y.sum(dim=1, keepdim=True)
    return y.transpose(1, 2)
