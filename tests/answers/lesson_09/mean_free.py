# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: takes the mean of each row of the weight (over d_in) instead of each column
def mean_free(weight, bias):
    return weight - weight.mean(dim=1, keepdim=True), bias - bias.mean()

# %% wrong: takes one mean over the whole weight
def mean_free(weight, bias):
    return weight - weight.mean(), bias - bias.mean()

# %% wrong: leaves the bias as it is
def mean_free(weight, bias):
    return weight - weight.mean(dim=0), bias

# %% wrong: takes the mean off the bias only
def mean_free(weight, bias):
    return weight, bias - bias.mean()

# %% wrong: also divides each column and the bias by its deviation, as a whole LayerNorm would
def mean_free(weight, bias):
    weight = weight - weight.mean(dim=0, keepdim=True)
    bias = bias - bias.mean()
    weight = weight / torch.sqrt(weight.square().mean(dim=0, keepdim=True) + 1e-5)
    bias = bias / torch.sqrt(bias.square().mean() + 1e-5)
    return weight, bias

# %% wrong: takes off the sum of the column, not its mean
def mean_free(weight, bias):
    return weight - weight.sum(dim=0), bias - bias.sum()

# %% wrong: changes the caller's parameters in place
def mean_free(weight, bias):
    weight -= weight.mean(dim=0)
    bias -= bias.mean()
    return weight, bias

# %% wrong: works under no_grad, so no gradient flows
@torch.no_grad()
def mean_free(weight, bias):
    return weight - weight.mean(dim=0), bias - bias.mean()

# %% wrong: takes everything that is too much off the last row, so the sum is 0 but the other entries keep their mean
def mean_free(weight, bias):
    last_row = weight[-1:] - weight.sum(dim=0, keepdim=True)
    last = bias[-1:] - bias.sum()
    return torch.cat((weight[:-1], last_row)), torch.cat((bias[:-1], last))

# %% wrong: divides the sum of a column by d_in instead of d_model
def mean_free(weight, bias):
    d_in = weight.shape[1]
    return weight - weight.sum(dim=0, keepdim=True) / d_in, bias - bias.mean()

# %% wrong: puts the means of the rows into the bias, and leaves the weight
def mean_free(weight, bias):
    return weight, bias - weight.mean(dim=1) - bias.mean()

# %% two mistakes: the mean of each row, and the bias left as it is
def mean_free(weight, bias):
    return weight - weight.mean(dim=-1, keepdim=True), bias

# %% two mistakes: one mean over the whole weight, and no gradient
def mean_free(weight, bias):
    weight, bias = weight.detach(), bias.detach()
    return weight - weight.mean(), bias - bias.mean()

# %% right: multiplies both by the matrix that takes a mean off, I - 1/d
def mean_free(weight, bias):
    d = len(bias)
    center = torch.eye(d, dtype=weight.dtype) - 1 / d
    return center @ weight, center @ bias

# %% right: asks the old layer with unit vectors, and takes the mean off what it gives
def mean_free(weight, bias):
    def less_mean(y):
        return y - y.mean()

    at_zero = less_mean(bias)
    columns = []
    for i in range(weight.shape[1]):
        unit = torch.zeros_like(weight[0])
        unit[i] = 1.0
        columns.append(less_mean(F.linear(unit, weight, bias)) - at_zero)
    return torch.stack(columns, dim=-1), at_zero

# %% right: the bias as one more column of the weight
def mean_free(weight, bias):
    both = torch.cat((weight, bias.unsqueeze(1)), dim=1)
    both = both - both.mean(dim=0, keepdim=True)
    return both[:, :-1], both[:, -1]

# %% right: an orthonormal basis that begins with the all-ones direction, and without its first vector
def mean_free(weight, bias):
    d = len(bias)
    start = torch.eye(d, dtype=weight.dtype)
    start[:, 0] = 1.0
    basis = torch.linalg.qr(start).Q[:, 1:]
    return basis @ (basis.T @ weight), basis @ (basis.T @ bias)
