# %% setup
import torch


# %% wrong: the letters of the result the other way around, so rows of y go down
def all_products(x, y):
    return torch.einsum("bhid,bhjd->bhji", x, y)


# %% wrong: one letter for n and m, so only row i with row i
def all_products(x, y):
    return torch.einsum("bhid,bhid->bhi", x, y)


# %% wrong: two letters for d, each row is summed on its own
def all_products(x, y):
    return torch.einsum("bhid,bhje->bhij", x, y)


# %% wrong: another letter for y's heads, so the products are summed over all heads of y
def all_products(x, y):
    return torch.einsum("bhid,bgjd->bhij", x, y)


# %% wrong: another letter for y's sentences
def all_products(x, y):
    return torch.einsum("bhid,chjd->bhij", x, y)


# %% wrong: divides by the root of d, as attention does
def all_products(x, y):
    return torch.einsum("bhid,bhjd->bhij", x, y) / x.shape[-1] ** 0.5


# %% two mistakes: sums over the heads; and leaves an axis of size 1 there
def all_products(x, y):
    return torch.einsum("bhid,bhjd->bij", x, y)[:, None]


# %% two mistakes: the mean over d in place of the sum; and the result the other way around
def all_products(x, y):
    return (x[:, :, None, :, :] * y[:, :, :, None, :]).mean(dim=-1)


# %% right: broadcasting and a sum
def all_products(x, y):
    return (x.unsqueeze(3) * y.unsqueeze(2)).sum(-1)


# %% right: loops over sentences and heads
def all_products(x, y):
    B, H, n, _ = x.shape
    result = x.new_zeros(B, H, n, y.shape[2])
    for b in range(B):
        for h in range(H):
            result[b, h] = torch.einsum("id,jd->ij", x[b, h], y[b, h])
    return result


# %% right: adds up feature by feature
def all_products(x, y):
    result = 0
    for a, b in zip(x.unbind(-1), y.unbind(-1)):
        result = result + a[..., :, None] * b[..., None, :]
    return result
