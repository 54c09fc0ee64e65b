# %% setup
import torch


# %% wrong: takes the row sum as the mean of the row times the number of rows instead of the number of columns, which is the same only for a square x
def shares(x):
    return x / (x.mean(dim=1, keepdim=True) * len(x))


# %% wrong: divides the rows in a loop in place, so the numbers are right but x itself is changed
def shares(x):
    for row in x:
        row /= row.sum()
    return x


# %% wrong: adds 1e-6 to every row sum against division by zero, so rows of very small numbers no longer sum to 1
def shares(x):
    return x / (x.sum(dim=-1, keepdim=True) + 1e-6)


# %% wrong: takes the softmax of each row, which sums to 1 but is not the number divided by the sum
def shares(x):
    return torch.softmax(x, dim=-1)


# %% two mistakes: divides by the sums of the columns; and writes the result into x
def shares(x):
    return x.div_(x.sum(dim=0, keepdim=True))


# %% right: turns the rows into columns, divides by the sums by broadcasting from the right, and turns back
def shares(x):
    return (x.T / x.sum(dim=1)).T


# %% right: gets the row sums as a column by a matrix product with ones
def shares(x):
    return x.div(x @ x.new_ones(x.shape[1], 1))
