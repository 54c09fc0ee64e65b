# %% setup
import torch
import torch.nn.functional as F


# %% wrong: adds up the absolute values of the products, so opposite signs do not cancel
def dot(a, b):
    return (a * b).abs().sum()


# %% wrong: cuts the fraction off every product before adding
def dot(a, b):
    total = 0
    for x, y in zip(a, b):
        total += int(x * y)
    return total


# %% wrong: counts the first two coordinates only, as in the example
def dot(a, b):
    return (a[:2] * b[:2]).sum()


# %% wrong: makes a row matrix of a before the product, so the result has shape (1,) instead of no dimensions
def dot(a, b):
    return a.unsqueeze(0) @ b


# %% two mistakes: takes the mean of the products instead of the sum; and keeps the axis, so the shape is (1,)
def dot(a, b):
    return (a * b).mean(dim=0, keepdim=True)


# %% right: the trace of the outer product
def dot(a, b):
    return torch.trace(torch.outer(a, b))


# %% right: adds Python numbers in a loop and returns a Python number
def dot(a, b):
    return sum(x * y for x, y in zip(a.tolist(), b.tolist()))
