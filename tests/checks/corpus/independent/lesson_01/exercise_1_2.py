# %% setup
import torch
import torch.nn.functional as F

# %% wrong: adds 1e-8 to the product of the norms, which changes the cosine of short vectors
def cosine(a, b):
    return (a * b).sum(dim=1) / (a.norm(dim=1) * b.norm(dim=1) + 1e-8)

# %% wrong: has no guard at all, so a zero vector gives NaN
def cosine(a, b):
    a = a / a.norm(dim=-1, keepdim=True)
    b = b / b.norm(dim=-1, keepdim=True)
    return (a * b).sum(dim=-1)

# %% wrong: guards against zero vectors in a only, so a zero vector in b gives NaN
def cosine(a, b):
    norm_a = a.norm(dim=1, keepdim=True)
    norm_b = b.norm(dim=1, keepdim=True)
    norm_a = torch.where(norm_a == 0, torch.ones_like(norm_a), norm_a)
    return ((a / norm_a) * (b / norm_b)).sum(dim=1)

# %% wrong: recognizes a zero vector by the sum of its coordinates, so a vector such as [1, -1] counts as zero
def cosine(a, b):
    def unit(x):
        zero = x.sum(dim=1, keepdim=True) == 0
        norm = x.norm(dim=1, keepdim=True).masked_fill(zero, 1.0)
        return (x / norm).masked_fill(zero, 0.0)

    return (unit(a) * unit(b)).sum(dim=1)

# %% wrong: takes every vector that has a zero among its coordinates for the zero vector, and gives 0 there
def cosine(a, b):
    zero = (a == 0).any(dim=1) | (b == 0).any(dim=1)
    a = a / a.norm(dim=1, keepdim=True)
    b = b / b.norm(dim=1, keepdim=True)
    return torch.where(zero, torch.zeros_like(a[:, 0]), (a * b).sum(dim=1))

# %% wrong: relies on lengths of at least 1e-6, so vectors shorter than that get too small a cosine
def cosine(a, b):
    a = a / a.norm(dim=-1, keepdim=True).clamp(min=1e-6)
    b = b / b.norm(dim=-1, keepdim=True).clamp(min=1e-6)
    return (a * b).sum(dim=-1)

# %% two mistakes: divides by the squared norms, the square root being forgotten; and clamps the divisor at 1e-6, which changes short vectors
def cosine(a, b):
    squares = a.pow(2).sum(dim=1) * b.pow(2).sum(dim=1)
    return (a * b).sum(dim=1) / squares.clamp(min=1e-6)

# %% right: scales each row by its largest entry before the norm, so that very short vectors do not underflow, and replaces zero divisors by 1
def cosine(a, b):
    def unit(x):
        top = x.abs().amax(dim=1, keepdim=True)
        x = x / torch.where(top > 0, top, torch.ones_like(top))
        square = (x * x).sum(dim=1, keepdim=True)
        return x / torch.where(square > 0, square, torch.ones_like(square)).sqrt()

    return (unit(a) * unit(b)).sum(dim=1).clamp(-1, 1)

# %% right: computes only the rows without a zero vector, by a boolean index, and leaves 0 in the others
def cosine(a, b):
    good = (a != 0).any(dim=1) & (b != 0).any(dim=1)
    u, v = a[good], b[good]
    u = u / u.abs().amax(dim=1, keepdim=True)
    v = v / v.abs().amax(dim=1, keepdim=True)
    u = u / torch.linalg.vector_norm(u, dim=1, keepdim=True)
    v = v / torch.linalg.vector_norm(v, dim=1, keepdim=True)
    out = a.new_zeros(a.shape[0])
    out[good] = torch.einsum("nd,nd->n", u, v).clamp(-1, 1)
    return out

# %% right: goes row by row and uses the lengths of the sum and the difference of the unit vectors: (|u+v|^2 - |u-v|^2) / 4
def cosine(a, b):
    results = []
    for u, v in zip(a, b):
        if not u.any() or not v.any():
            results.append(u.sum() * 0)
            continue
        u = u / u.abs().max()
        v = v / v.abs().max()
        u, v = u / u.norm(), v / v.norm()
        results.append((((u + v) ** 2).sum() - ((u - v) ** 2).sum()) / 4)
    return torch.stack(results).clamp(-1, 1)


# %% wrong: named in the review: clamps the product of the lengths at 1e-3, which changes short vectors
def cosine(a, b):
    return (a * b).sum(dim=1) / (a.norm(dim=1) * b.norm(dim=1)).clamp(min=1e-3)


# %% wrong: named in the review: gives 0 where the sum of a vector of either stack is zero
def cosine(a, b):
    result = (a * b).sum(dim=1) / (a.norm(dim=1) * b.norm(dim=1))
    return torch.where((a.sum(dim=1) == 0) | (b.sum(dim=1) == 0), 0.0, result)
