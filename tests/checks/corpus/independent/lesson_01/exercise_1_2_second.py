# %% setup
import torch
import torch.nn.functional as F

# %% wrong: the product of the norms is clamped at 1e-8, so two short vectors get a cosine that is far too small
def cosine(a, b):
    norms = a.norm(dim=-1) * b.norm(dim=-1)
    return (a * b).sum(dim=-1) / norms.clamp(min=1e-8)

# %% wrong: a row with any coordinate equal to 0 is taken for the zero vector and gets 0
def cosine(a, b):
    zero = (a == 0).any(dim=-1) | (b == 0).any(dim=-1)
    norms = a.norm(dim=-1) * b.norm(dim=-1)
    norms = torch.where(zero, torch.ones_like(norms), norms)
    return torch.where(zero, torch.zeros_like(norms), (a * b).sum(-1) / norms)

# %% wrong: only a is guarded against the zero vector; where b is zero the result is NaN
def cosine(a, b):
    norm_a = a.norm(dim=-1)
    norm_a = torch.where(norm_a == 0, torch.ones_like(norm_a), norm_a)
    return (a * b).sum(-1) / (norm_a * b.norm(dim=-1))

# %% wrong: negative cosines are cut off at 0
def cosine(a, b):
    unit_a, unit_b = (v / v.norm(dim=-1, keepdim=True).clamp(min=1e-12) for v in (a, b))
    result = (unit_a * unit_b).sum(-1)
    return result.clamp(0, 1)

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
