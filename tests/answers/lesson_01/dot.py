# %% setup
import torch
import torch.nn.functional as F

# %% wrong: returns the coordinatewise products and forgets to add them up
def dot(a, b):
    return a * b

# %% wrong: returns a tensor of shape (1,) instead of a single number without dimensions
def dot(a, b):
    return (a * b).sum(dim=0, keepdim=True)

# %% wrong: uses the first two entries only, right only for vectors with d = 2
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1]

# %% wrong: collects the products in a default argument that is kept between calls, so every call but the first adds the products of earlier calls
def dot(a, b, products=[]):
    for x, y in zip(a, b):
        products.append(x * y)
    return sum(products)

# %% wrong: adds up the coordinates of each vector first and multiplies the two sums
def dot(a, b):
    return a.sum() * b.sum()

# %% two mistakes: takes the mean of the products instead of their sum; and returns a tensor of shape (1,)
def dot(a, b):
    return (a * b).mean(dim=0, keepdim=True)

# %% wrong: the product is written into a by mul_, so the caller's a is changed
def dot(a, b):
    return a.mul_(b).sum()

# %% two mistakes: the products are averaged instead of added; and every coordinate is cut to a whole number by int
def dot(a, b):
    total = 0
    for p, q in zip(a, b):
        total += int(p) * int(q)
    return total / len(a)

# %% wrong: takes the trace of the outer product, which only vectors have
def dot(a, b):
    return torch.outer(a, b).diagonal().sum()

# %% wrong: uses tensordot over one axis, which is a matrix product of two tables
def dot(a, b):
    return torch.tensordot(a, b, dims=1)

# %% wrong: adds Python numbers in a loop over the first axis, so it fails where the entries are lists
def dot(a, b):
    return sum(x * y for x, y in zip(a.tolist(), b.tolist()))

# %% setup
import torch

# %% wrong: prints the result instead of returning it
def dot(a, b):
    print((a * b).sum())

# %% wrong: adds up over the last axis only, so that a table gives a number for each row
def dot(a, b):
    return (a * b).sum(-1)

# %% right: flattens both and multiplies a row with a column
def dot(a, b):
    return a.flatten() @ b.flatten()

# %% right: walks through the axes until numbers are left
def dot(a, b):
    if a.dim() == 0:
        return (a * b).item()
    return sum(dot(x, y) for x, y in zip(a, b))

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: torch.dot, which takes vectors only
def dot(a, b):
    return torch.dot(a, b)

# %% wrong: the lesson's loop, which gives a row or a table if there are more axes
def dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total

# %% wrong: sums the entries of the matrix product
def dot(a, b):
    return (a @ b).sum()

# %% wrong: the mean of the products instead of their sum
def dot(a, b):
    return (a * b).mean()

# %% wrong: two nested loops, good for tables alone
def dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * b[i, j]
    return total

# %% wrong: the trace of a @ b, without the transpose
def dot(a, b):
    return (a @ b).diagonal().sum()

# %% wrong: the cosine of the two
def dot(a, b):
    return F.cosine_similarity(a.flatten(), b.flatten(), dim=0)

# %% two mistakes: adds up over the first axis only; and takes the mean
def dot(a, b):
    return (a * b).mean(dim=0)

# %% two mistakes: adds the numbers of a and b where it should multiply them; and sums the last axis only
def dot(a, b):
    return (a + b).sum(dim=-1)

# %% right: tensordot over all axes
def dot(a, b):
    return torch.tensordot(a, b, dims=a.dim())

# %% right: a loop over Python numbers
def dot(a, b):
    total = 0.0
    for x, y in zip(a.flatten().tolist(), b.flatten().tolist()):
        total += x * y
    return total

# %% right: from lengths: a quarter of |a + b|^2 - |a - b|^2
def dot(a, b):
    return ((a + b).pow(2).sum() - (a - b).pow(2).sum()) / 4
