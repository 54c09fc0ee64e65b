# %% setup
import torch

# %% wrong: the output indices are swapped, so the result is (m, n), the transpose
def all_products(x, y):
    return torch.einsum("id,jd->ji", x, y)

# %% wrong: the second operand is indexed as if y were (d, m), so it fails unless m == d, and then multiplies with the columns of y
def all_products(x, y):
    return torch.einsum("nd,dm->nm", x, y)

# %% wrong: the two operands have different letters for the feature axis, so it gives the product of the row sums, right only for d == 1
def all_products(x, y):
    return torch.einsum("na,mb->nm", x, y)

# %% right: the results are written into a float32 buffer, so float64 inputs come back in float32 (32-bit floats are all that the lesson has)
def all_products(x, y):
    out = torch.zeros(len(x), len(y))
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = (x[i] * y[j]).sum()
    return out

# %% right: broadcasting to (n, m, d) and a sum, no einsum at all
def all_products(x, y):
    return (x[:, None, :] * y[None, :, :]).sum(dim=-1)

# %% right: einsum in sublist form, with numbers for the axes
def all_products(x, y):
    return torch.einsum(x, [0, 2], y, [1, 2], [0, 1])
