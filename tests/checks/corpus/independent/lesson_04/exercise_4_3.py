# %% setup
import math

import torch

# %% wrong: forgets that the scores are divided by the root of d_k
def projections_for(x, wanted):
    undo = torch.linalg.pinv(x)
    return undo @ wanted.log(), undo

# %% wrong: takes the weights for the scores, without a logarithm
def projections_for(x, wanted):
    undo = torch.linalg.pinv(x)
    return undo @ wanted * len(x) ** 0.5, undo

# %% wrong: undoes the tokens with their transpose
def projections_for(x, wanted):
    return x.T @ wanted.log() * len(x) ** 0.5, x.T

# %% wrong: makes up for the root of d_model, although its matrices have d_k = L
def projections_for(x, wanted):
    undo = torch.linalg.pinv(x)
    return undo @ wanted.log() * x.shape[1] ** 0.5, undo

# %% wrong: puts the scores on the side of the keys, so that the table comes out turned
def projections_for(x, wanted):
    undo = torch.linalg.pinv(x)
    return undo, undo @ wanted.log() * len(x) ** 0.5

# %% wrong: takes the plain inverse, which only square tokens have
def projections_for(x, wanted):
    undo = torch.inverse(x)
    return undo @ wanted.log() * math.sqrt(len(x)), undo

# %% wrong: returns the table of scores itself and the identity, as if the tokens were not in front of them
def projections_for(x, wanted):
    scores = wanted.log() * len(x) ** 0.5
    full = torch.zeros(x.shape[1], len(x), dtype=x.dtype)
    full[: len(x)] = scores
    return full, torch.eye(x.shape[1], len(x), dtype=x.dtype)

# %% two mistakes: no logarithm; and the scale is forgotten
def projections_for(x, wanted):
    undo = torch.linalg.pinv(x)
    return undo @ wanted, undo

# %% two mistakes: the scores are turned; and the scale is forgotten
def projections_for(x, wanted):
    undo = torch.linalg.pinv(x)
    return undo @ wanted.log().T, undo

# %% right: the tokens themselves are the keys, and d_k is d_model
def projections_for(x, wanted):
    undo, d_model = torch.linalg.pinv(x), x.shape[1]
    W_q = undo @ (wanted.log() * d_model**0.5) @ undo.T
    return W_q, torch.eye(d_model, dtype=x.dtype)

# %% right: the scale is shared out between both sides, one row of scores moved by a constant
def projections_for(x, wanted):
    undo = torch.linalg.pinv(x)
    scores = wanted.log()
    scores = scores - scores.amax(dim=1, keepdim=True)
    root = len(x) ** 0.25
    return undo @ scores * root, undo * root

# %% right: solved as a system of equations, with a d_k twice as large as it need be
def projections_for(x, wanted):
    L = len(x)
    scores = torch.cat([wanted.log() * (2 * L) ** 0.5, torch.ones(L, L, dtype=x.dtype)], dim=1)
    ones = torch.cat([torch.eye(L, dtype=x.dtype), torch.zeros(L, L, dtype=x.dtype)], dim=1)
    return torch.linalg.lstsq(x, scores).solution, torch.linalg.lstsq(x, ones).solution
