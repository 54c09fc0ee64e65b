# %% setup
import torch

# %% wrong: the letter of the batch is missing behind the arrow, so the sentences are added up
def all_products(x, y):
    return torch.einsum("bhid,bhjd->hij", x, y)

# %% wrong: multiplies row i of x with row i of y only, which works if there are as many of both
def all_products(x, y):
    return torch.einsum("bhid,bhid->bhi", x, y)

# %% wrong: rows and columns of the result are swapped
def all_products(x, y):
    return torch.einsum("bhid,bhjd->bhji", x, y)

# %% wrong: every head of x meets every head of y
def all_products(x, y):
    return torch.einsum("bhid,bgjd->bhgij", x, y)

# %% two mistakes: adds up over the heads; and swaps rows and columns
def all_products(x, y):
    return torch.einsum("bhid,bhjd->bji", x, y)

# %% two mistakes: adds up over the batch; and leaves d unsummed
def all_products(x, y):
    return torch.einsum("bhid,bhjd->hijd", x, y)

# %% wrong: sums over sentences and heads as well
def all_products(x, y):
    return torch.einsum("bhid,bhjd->ij", x, y)

# %% wrong: divides by the root of d, as attention does
def all_products(x, y):
    return torch.einsum("bhid,bhjd->bhij", x, y) / x.shape[-1] ** 0.5

# %% two mistakes: sums over the heads; and leaves an axis of size 1 there
def all_products(x, y):
    return torch.einsum("bhid,bhjd->bij", x, y)[:, None]

# %% right: a loop over sentences and heads with the two-letter pattern
def all_products(x, y):
    return torch.stack([torch.stack([torch.einsum("id,jd->ij", p, q) for p, q in zip(a, b)]) for a, b in zip(x, y)])

# %% right: the dots of einsum stand for batch and heads
def all_products(x, y):
    return torch.einsum("...id,...jd->...ij", x, y)

# %% right: broadcasting and a sum
def all_products(x, y):
    return (x.unsqueeze(3) * y.unsqueeze(2)).sum(-1)
