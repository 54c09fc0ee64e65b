# %% setup
import torch


# %% wrong: reshapes y to (d, m) instead of transposing it, so unless m or d is 1 its numbers are scrambled
def all_products(x, y):
    m, d = y.shape
    return torch.einsum("ij,jk->ik", x, y.reshape(d, m))


# %% wrong: takes the mean of the products and not their sum, so everything is divided by d
def all_products(x, y):
    return (x[:, None] * y).mean(dim=-1)


# %% wrong: pairs the rows with those of y outside and those of x inside but views the result as (n, m), so the entries stand at wrong places unless n or m is 1
def all_products(x, y):
    n, m = len(x), len(y)
    pairs = x.repeat(m, 1) * y.repeat_interleave(n, dim=0)
    return pairs.sum(dim=1).view(n, m)


# %% wrong: stacks one row of results for every row of y, which is the transposed table (m, n)
def all_products(x, y):
    return torch.stack([(x * row).sum(dim=1) for row in y])


# %% right: adds up, coordinate by coordinate, a column times a row
def all_products(x, y):
    total = x.new_zeros(len(x), len(y))
    for k in range(x.shape[1]):
        total = total + x[:, k, None] * y[None, :, k]
    return total


# %% right: maps a function of one row of x over the rows, which multiplies and adds
def all_products(x, y):
    return torch.vmap(lambda row: (row * y).sum(dim=1))(x)
