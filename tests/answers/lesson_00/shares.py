# %% setup
import torch

# %% wrong: divides by the column sums (dim=0), so the columns sum to 1 and the rows do not
def shares(x):
    return x / x.sum(dim=0, keepdim=True)

# %% wrong: divides in place, so the tensor that was passed in is changed
def shares(x):
    x /= x.sum(dim=1, keepdim=True)
    return x

# %% wrong: forgets keepdim, so the row sums are lined up with the columns: an error if n differs from m, wrong numbers if n equals m
def shares(x):
    return x / x.sum(dim=1)

# %% wrong: squeezes the result, so an axis is lost when there is only one row or one column
def shares(x):
    total = x.sum(dim=1, keepdim=True)
    return (x / total).squeeze()

# %% wrong: adds 1e-6 to the row sum, so rows of very small positive numbers no longer sum to 1
def shares(x):
    return x / (x.sum(dim=1, keepdim=True) + 1e-6)

# %% two mistakes: divides by the column sums (dim=0) and not by the row sums; and does so in place, so the input is changed
def shares(x):
    x /= x.sum(dim=0)
    return x

# %% wrong: the shares are rounded to two decimals as in the printed example, so they are inexact and rows need not sum to 1
def shares(x):
    result = x / x.sum(dim=1, keepdim=True)
    return torch.round(result, decimals=2)

# %% two mistakes: divides by the column sums instead of the row sums; and always converts to float32, so float64 comes back as float32
def shares(x):
    x = x.to(torch.float32)
    return x / x.sum(dim=0, keepdim=True)

# %% wrong: takes the row sum as the mean of the row times the number of rows instead of the number of columns, which is the same only for a square x
def shares(x):
    return x / (x.mean(dim=1, keepdim=True) * len(x))

# %% right: transposes, divides by the row sums, which then line up with the last axis, and transposes back
def shares(x):
    return (x.T / x.sum(dim=1)).T

# %% right: sums the rows by einsum, takes the reciprocal and multiplies
def shares(x):
    return x * torch.einsum("nm->n", x).reciprocal().unsqueeze(-1)

# %% right: gets the row sums as a column by a matrix product with ones
def shares(x):
    return x.div(x @ x.new_ones(x.shape[1], 1))

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: divides by the sum of the whole table
def shares(x):
    return x / x.sum()
