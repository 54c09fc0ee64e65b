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

# %% wrong: takes the softmax of each row (exponentials) instead of dividing the numbers themselves by the row sum
def shares(x):
    weights = torch.exp(x - x.max(dim=1, keepdim=True).values)
    return weights / weights.sum(dim=1, keepdim=True)

# %% wrong: adds 1e-6 to the row sum, so rows of very small positive numbers no longer sum to 1
def shares(x):
    return x / (x.sum(dim=1, keepdim=True) + 1e-6)

# %% two mistakes: divides by the column sums (dim=0) and not by the row sums; and does so in place, so the input is changed
def shares(x):
    x /= x.sum(dim=0)
    return x

# %% right: transposes, divides by the row sums, which then line up with the last axis, and transposes back
def shares(x):
    return (x.T / x.sum(dim=1)).T

# %% right: gets the row sums from a matrix product with a column of ones
def shares(x):
    return x / (x @ x.new_ones(x.shape[1], 1))

# %% right: sums the rows by einsum, takes the reciprocal and multiplies
def shares(x):
    return x * torch.einsum("nm->n", x).reciprocal().unsqueeze(-1)
