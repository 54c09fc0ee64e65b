# %% setup
import torch
import torch.nn.functional as F


# %% wrong: takes a row for the zero vector as soon as one of its coordinates is 0 (any instead of all)
def cosine(a, b):
    zero = (a == 0).any(dim=-1) | (b == 0).any(dim=-1)
    lengths = a.norm(dim=-1) * b.norm(dim=-1)
    return torch.where(zero, torch.zeros_like(lengths), (a * b).sum(dim=-1) / lengths)


# %% wrong: takes a row for the zero vector if its coordinates add up to 0, so [1, -1] has cosine 0 with everything
def cosine(a, b):
    lengths = a.norm(dim=-1) * b.norm(dim=-1)
    zero = (a.sum(dim=-1) == 0) | (b.sum(dim=-1) == 0)
    result = (a * b).sum(dim=-1) / lengths.masked_fill(zero, 1.0)
    return result.masked_fill(zero, 0.0)


# %% wrong: tests the product of the lengths with isclose, whose tolerance of 1e-8 makes the cosine of two short vectors 0
def cosine(a, b):
    lengths = a.norm(dim=-1) * b.norm(dim=-1)
    zero = torch.isclose(lengths, torch.zeros_like(lengths))
    return ((a * b).sum(dim=-1) / lengths).masked_fill(zero, 0.0)


# %% wrong: guards the lengths of a only, so a zero vector in b gives NaN
def cosine(a, b):
    length_a = a.norm(dim=-1)
    length_a = torch.where(length_a == 0, torch.ones_like(length_a), length_a)
    return (a * b).sum(dim=-1) / (length_a * b.norm(dim=-1))


# %% right: divides every vector by its largest coordinate first, then by its length, row by row in a loop
def cosine(a, b):
    result = []
    for u, v in zip(a, b):
        if not u.any() or not v.any():
            result.append(u.new_zeros(()))
            continue
        u, v = u / u.abs().max(), v / v.abs().max()
        result.append((torch.dot(u, v) / (u.norm() * v.norm())).clamp(-1, 1))
    return torch.stack(result)


# %% right: makes unit vectors by lengths that are at least 1e-12, far below 1e-7, and multiplies them by einsum
def cosine(a, b):
    products = torch.einsum("nd,nd->n", *(v / v.norm(dim=1, keepdim=True).clamp(min=1e-12) for v in (a, b)))
    return products.clamp(-1.0, 1.0)

# %% wrong: adds 1e-15 to the product of the lengths, which changes the cosine of two vectors of length 1e-7
def cosine(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + 1e-15)


# %% wrong: divides by the length of the whole matrices
def cosine(a, b):
    lengths = a.norm() * b.norm()
    return (a * b).sum(-1) / torch.where(lengths == 0, 1.0, lengths)
