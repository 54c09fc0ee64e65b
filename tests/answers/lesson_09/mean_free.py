# %% setup
import torch

# %% wrong: takes the mean of each row off
def mean_free(weight, bias):
    return weight - weight.mean(1, keepdim=True), bias - bias.mean()

# %% wrong: leaves the bias as it is
def mean_free(weight, bias):
    return weight - weight.mean(0), bias + 0

# %% wrong: takes the mean of the whole matrix off
def mean_free(weight, bias):
    return weight - weight.mean(), bias - bias.mean()

# %% wrong: normalizes the columns, with the deviation too
def mean_free(weight, bias):
    centered = weight - weight.mean(0)
    return centered / centered.pow(2).mean(0).sqrt(), bias - bias.mean()

# %% two mistakes: means of rows; and the bias left alone
def mean_free(weight, bias):
    return weight - weight.mean(1, keepdim=True), bias + 0

# %% right: by the projection matrix onto the plane of mean 0
def mean_free(weight, bias):
    d = len(bias)
    plane = torch.eye(d, dtype=weight.dtype) - torch.ones(d, d, dtype=weight.dtype) / d
    return plane @ weight, plane @ bias

# %% right: weight and bias side by side
def mean_free(weight, bias):
    both = torch.cat([weight, bias[:, None]], dim=1)
    both = both - both.sum(0) / len(both)
    return both[:, :-1], both[:, -1]
