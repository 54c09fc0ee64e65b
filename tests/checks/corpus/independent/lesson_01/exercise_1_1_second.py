# %% setup
import torch
import torch.nn.functional as F

# %% wrong: multiplies coordinate by coordinate but never adds up, so it returns a vector
def dot(a, b):
    return a * b

# %% wrong: only the first two coordinates count, as in the example
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1]

# %% wrong: the product is written into a by mul_, so the caller's a is changed
def dot(a, b):
    return a.mul_(b).sum()

# %% wrong: the sum keeps its axis, so a tensor of shape (1,) comes back instead of one number
def dot(a, b):
    return (a * b).sum(dim=0, keepdim=True)

# %% two mistakes: the products are averaged instead of added; and every coordinate is cut to a whole number by int
def dot(a, b):
    total = 0
    for p, q in zip(a, b):
        total += int(p) * int(q)
    return total / len(a)

# %% right: a Python number, by a plain loop over lists
def dot(a, b):
    return sum(p * q for p, q in zip(a.tolist(), b.tolist()))

# %% right: a (1, d) times (d, 1) matrix product with its two axes taken away
def dot(a, b):
    return (a.unsqueeze(0) @ b.unsqueeze(1)).reshape(())
