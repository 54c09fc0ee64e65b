# %% setup
import torch
import torch.nn.functional as F

# %% wrong: adds 1e-8 to the product of the norms, which changes the cosine of short vectors
def cosine(a, b):
    return (a * b).sum(dim=1) / (a.norm(dim=1) * b.norm(dim=1) + 1e-8)

# %% wrong: gives 0 where the sum of a vector of either stack is zero
def cosine(a, b):
    result = (a * b).sum(dim=1) / (a.norm(dim=1) * b.norm(dim=1))
    return torch.where((a.sum(dim=1) == 0) | (b.sum(dim=1) == 0), 0.0, result)

# %% wrong: relies on lengths of at least 1e-6, so vectors shorter than that get too small a cosine
def cosine(a, b):
    a = a / a.norm(dim=-1, keepdim=True).clamp(min=1e-6)
    b = b / b.norm(dim=-1, keepdim=True).clamp(min=1e-6)
    return (a * b).sum(dim=-1)

# %% two mistakes: divides by the squared norms, the square root being forgotten; and clamps the divisor at 1e-6, which changes short vectors
def cosine(a, b):
    squares = a.pow(2).sum(dim=1) * b.pow(2).sum(dim=1)
    return (a * b).sum(dim=1) / squares.clamp(min=1e-6)

# %% wrong: clamps the product of the lengths at 1e-3, which changes short vectors
def cosine(a, b):
    return (a * b).sum(dim=1) / (a.norm(dim=1) * b.norm(dim=1)).clamp(min=1e-3)

# %% wrong: the product of the norms is clamped at 1e-8, so two short vectors get a cosine that is far too small
def cosine(a, b):
    norms = a.norm(dim=-1) * b.norm(dim=-1)
    return (a * b).sum(dim=-1) / norms.clamp(min=1e-8)

# %% wrong: negative cosines are cut off at 0
def cosine(a, b):
    unit_a, unit_b = (v / v.norm(dim=-1, keepdim=True).clamp(min=1e-12) for v in (a, b))
    result = (unit_a * unit_b).sum(-1)
    return result.clamp(0, 1)

# %% wrong: adds 1e-15 to the product of the lengths, which changes the cosine of two vectors of length 1e-7
def cosine(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + 1e-15)

# %% wrong: divides by the length of the whole matrices
def cosine(a, b):
    lengths = a.norm() * b.norm()
    return (a * b).sum(-1) / torch.where(lengths == 0, 1.0, lengths)

# %% right: divides each row by its largest entry before taking lengths, zero rows divided by 1
def cosine(a, b):
    def unit(v):
        biggest = v.abs().amax(dim=-1, keepdim=True)
        v = v / torch.where(biggest == 0, torch.ones_like(biggest), biggest)
        length = torch.linalg.vector_norm(v, dim=-1, keepdim=True)
        return v / torch.where(length == 0, torch.ones_like(length), length)
    return torch.einsum("nd,nd->n", unit(a), unit(b)).clamp(-1, 1)

# %% right: a loop over the rows with an if for the zero vector
def cosine(a, b):
    results = []
    for u, v in zip(a, b):
        if not u.any() or not v.any():
            results.append((u * 0).sum())
        else:
            results.append(torch.dot(u / u.norm(), v / v.norm()).clamp(-1, 1))
    return torch.stack(results)

# %% setup
import torch

# %% wrong: no guard, NaN for zero vectors
def cosine(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))

# %% right: divides plainly and turns the 0 / 0 into 0 afterwards
def cosine(a, b):
    return torch.nan_to_num((a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)), nan=0.0)
