# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: takes the root mean square of the dot products instead of their standard deviation, which is larger when their mean is not 0
def score_spread(query, key):
    dots = (query * key).sum(dim=-1)
    spread = dots.pow(2).mean().sqrt()
    return spread, spread / query.shape[-1] ** 0.5

# %% wrong: divides by the root of the number of rows n instead of the root of d_k
def score_spread(query, key):
    dots = (query * key).sum(dim=-1)
    return dots.std(), (dots / len(query) ** 0.5).std()

# %% wrong: takes all n * n dot products of every query with every key, not only those of row i with row i
def score_spread(query, key):
    scores = query @ key.T
    return scores.std(), (scores / key.shape[-1] ** 0.5).std()

# %% wrong: writes the products into query, so the argument is changed in place
def score_spread(query, key):
    query *= key
    dots = query.sum(-1)
    return dots.std(), (dots / query.size(-1) ** 0.5).std()

# %% two mistakes: returns the variances instead of the standard deviations; and divides the dot products by d_k instead of its root
def score_spread(query, key):
    d_k = query.shape[1]
    dots = torch.einsum("nd,nd->n", query, key)
    scaled = dots / d_k
    return dots.var(), scaled.var()

# %% right: batched matrix products of single rows, and Python's statistics module, so plain floats are returned
def score_spread(query, key):
    import statistics

    d_k = query.shape[-1]
    dots = torch.bmm(query[:, None, :], key[:, :, None]).flatten().tolist()
    return statistics.pstdev(dots), statistics.pstdev([dot / d_k**0.5 for dot in dots])

# %% right: einsum, the deviation by hand with division by n, and the second number from the first
def score_spread(query, key):
    dots = torch.einsum("nd,nd->n", query, key)
    centred = dots - dots.mean()
    unscaled = torch.linalg.vector_norm(centred) / len(dots) ** 0.5
    return unscaled, unscaled / query.shape[-1] ** 0.5
