# %% setup
import math
import statistics

import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: takes the root of the mean square without subtracting the mean, which is the standard deviation only when the dot products have mean 0
def score_spread(query, key):
    scores = (query * key).sum(dim=-1)
    unscaled = scores.square().mean().sqrt()
    return unscaled, unscaled / query.shape[-1] ** 0.5


# %% wrong: rounds the root of d_k down to a whole number, so the scaled number is right only if d_k is a square number
def score_spread(query, key):
    scores = (query * key).sum(dim=-1)
    root = math.isqrt(query.shape[-1])
    return scores.std(), (scores / root).std()


# %% wrong: measures no dot products, but puts the spreads of the entries into the formula for entries of mean 0, root of d_k times std of query times std of key
def score_spread(query, key):
    scaled = query.std() * key.std()
    return scaled * query.shape[-1] ** 0.5, scaled


# %% wrong: divides the scores in place under a second name before the first standard deviation is taken, so both numbers are the scaled one
def score_spread(query, key):
    scores = (query * key).sum(dim=-1)
    scaled = scores
    scaled /= query.shape[-1] ** 0.5
    return scores.std(), scaled.std()


# %% two mistakes: takes the root of the mean square without subtracting the mean; and divides by d_k instead of its root
def score_spread(query, key):
    scores = (query * key).sum(dim=-1)
    scaled = scores / query.shape[-1]
    return (scores**2).mean() ** 0.5, (scaled**2).mean() ** 0.5


# %% right: one dot product after the other in a loop, then the standard deviation of Python's statistics module
def score_spread(query, key):
    root = math.sqrt(query.shape[1])
    products = [float(torch.dot(q.double(), k.double())) for q, k in zip(query, key)]
    return statistics.stdev(products), statistics.stdev([p / root for p in products])


# %% right: dot products by a batched matrix product of 1 x d_k with d_k x 1, variance as the mean square of the centred numbers, scaled before the products are taken
def score_spread(query, key):
    def spread(a, b):
        numbers = torch.bmm(a.unsqueeze(1), b.unsqueeze(2)).flatten()
        centred = numbers - numbers.mean()
        return (centred @ centred / len(numbers)).sqrt()

    return spread(query, key), spread(query / query.shape[1] ** 0.25, key / key.shape[1] ** 0.25)
