# %% setup
import torch

# %% wrong: the row sums have no kept axis, so they are lined up with the columns (an error if n != m, wrong numbers if n == m)
def shares(x):
    row_sums = x.sum(dim=1)
    return x / row_sums

# %% wrong: the division is done in place, so the caller's x is changed
def shares(x):
    x /= x.sum(dim=1, keepdim=True)
    return x

# %% wrong: 1e-6 is added to the row sum, so rows of very small numbers do not sum to 1
def shares(x):
    return x / (x.sum(dim=-1, keepdim=True) + 1e-6)

# %% wrong: the shares are rounded to two decimals as in the printed example, so they are inexact and rows need not sum to 1
def shares(x):
    result = x / x.sum(dim=1, keepdim=True)
    return torch.round(result, decimals=2)

# %% two mistakes: divides by the column sums instead of the row sums; and always converts to float32, so float64 comes back as float32
def shares(x):
    x = x.to(torch.float32)
    return x / x.sum(dim=0, keepdim=True)

# %% right: works on the transposed tensor, where the row sums broadcast without a kept axis
def shares(x):
    return (x.T / x.T.sum(dim=0)).T

# %% right: row sums by einsum, expanded to the full shape before the division
def shares(x):
    sums = torch.einsum("nm->n", x)
    return torch.div(x, sums.unsqueeze(1).expand_as(x))
