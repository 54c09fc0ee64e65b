# %% setup
import torch

# %% wrong: leaves out the arrow, so einsum sorts the letters and the result is (m, n), transposed
def all_products(x, y):
    return torch.einsum("nd,md", x, y)

# %% wrong: gives the shared axis two different letters, so each row is summed on its own and the sums are multiplied
def all_products(x, y):
    return torch.einsum("nd,me->nm", x, y)

# %% wrong: turns y into (d, m) by reshape instead of a transpose, which scrambles its numbers unless m or d is 1
def all_products(x, y):
    m, d = y.shape
    return torch.einsum("nd,dm->nm", x, y.reshape(d, m))

# %% wrong: uses the matrix product @, which is off limits here, instead of einsum
def all_products(x, y):
    return x @ y.T

# %% wrong: squeezes the result, so axes of length 1 (n = 1 or m = 1) are lost
def all_products(x, y):
    return torch.einsum("nd,md->nm", x, y).squeeze()

# %% wrong: multiplies only row i of x with row i of y ("nd,nd->n"), which gives (n,) and an error when n differs from m
def all_products(x, y):
    return torch.einsum("nd,nd->n", x, y)

# %% two mistakes: the output letters are in the wrong order, (m, n); and the products are divided by d, a mean and not a sum
def all_products(x, y):
    return torch.einsum("nd,md->mn", x, y) / x.shape[-1]

# %% right: gives the axes as numbers instead of letters
def all_products(x, y):
    return torch.einsum(x, [0, 2], y, [1, 2], [0, 1])

# %% right: leaves out the arrow with letters whose alphabetical order is the right one
def all_products(x, y):
    return torch.einsum("ax,bx", x, y)

# %% right: passes y first, with an ellipsis for the rows of x and capital letters
def all_products(x, y):
    return torch.einsum("M D, ... D -> ... M", y, x)
