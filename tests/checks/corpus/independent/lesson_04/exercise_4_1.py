# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: divides the dot products by d_k instead of by its square root
def score_spread(query, key):
    d_k = query.shape[-1]
    dots = (query * key).sum(dim=-1)
    return dots.std(), (dots / d_k).std()

# %% wrong: takes the spread of all n * n dot products (every query with every key) instead of only the n that belong together
def score_spread(query, key):
    scores = query @ key.T
    return scores.std(), (scores / query.shape[1] ** 0.5).std()

# %% wrong: scales with the square root of the number of rows n instead of d_k
def score_spread(query, key):
    dots = (query * key).sum(1)
    scaled = dots / len(query) ** 0.5
    return dots.std().item(), scaled.std().item()

# %% wrong: gives the root of the mean square, which is the standard deviation only if the dot products have mean 0
def score_spread(query, key):
    d_k = query.shape[-1]
    dots = torch.einsum("nd,nd->n", query, key)
    unscaled = (dots**2).mean().sqrt()
    scaled = ((dots / d_k**0.5) ** 2).mean().sqrt()
    return unscaled, scaled

# %% wrong: does not measure anything but returns the theoretical sqrt(d_k) and 1, which hold for standard normal entries only
def score_spread(query, key):
    # sums of d_k products with variance 1
    d_k = query.shape[-1]
    unscaled = d_k**0.5
    return unscaled, unscaled / d_k**0.5

# %% wrong: returns the two numbers in the wrong order, the scaled one first
def score_spread(query, key):
    scores = (query * key).sum(dim=-1)
    scaled = scores / query.size(-1) ** 0.5
    return scaled.std(), scores.std()

# %% two mistakes: returns the variances instead of the standard deviations; and sums over the rows (axis 0) instead of over the entries of each pair
def score_spread(query, key):
    d_k = query.shape[-1]
    dots = (query * key).sum(dim=0)
    return dots.var(), (dots / d_k**0.5).var()

# %% right: a loop over the rows with torch.dot, returns Python floats
def score_spread(query, key):
    n, d_k = query.shape
    dots = torch.stack([torch.dot(query[i], key[i]) for i in range(n)])
    scaled = dots / torch.tensor(float(d_k)).sqrt()
    return dots.std().item(), scaled.std().item()

# %% right: a batched matrix product of rows and columns, the second number from the first by dividing the deviation
def score_spread(query, key):
    dots = torch.bmm(query.unsqueeze(1), key.unsqueeze(2)).flatten()
    unscaled = dots.std()
    return unscaled, unscaled / query.shape[-1] ** 0.5

# %% right: the statistics module of Python on a list, and the division by n instead of n - 1
def score_spread(query, key):
    import math
    import statistics

    dots = (query * key).sum(dim=1).tolist()
    root = math.sqrt(query.shape[1])
    return statistics.pstdev(dots), statistics.pstdev([dot / root for dot in dots])
