# %% setup
import math

import torch

# %% wrong: makes W_k the pseudo-inverse but forgets the root of d_k, so the weights come out too even
def projections_for(x, wanted):
    back = torch.linalg.pinv(x)
    return back @ wanted.log(), back

# %% wrong: uses the weights themselves as scores, without the logarithm
def projections_for(x, wanted):
    back = torch.linalg.pinv(x)
    return back @ wanted * x.shape[0] ** 0.5, back

# %% wrong: divides by the root of d_k a second time in place of multiplying with it
def projections_for(x, wanted):
    back = torch.linalg.pinv(x)
    return back @ (wanted.log() / math.sqrt(x.shape[0])), back

# %% wrong: takes torch.linalg.inv, which only works where L equals d_model
def projections_for(x, wanted):
    back = torch.linalg.inv(x)
    return back @ wanted.log() * x.shape[0] ** 0.5, back

# %% wrong: makes up for the root of d_model, while d_k is L
def projections_for(x, wanted):
    back = torch.linalg.pinv(x)
    return back @ wanted.log() * x.shape[1] ** 0.5, back

# %% wrong: hands back W_k first and W_q second
def projections_for(x, wanted):
    back = torch.linalg.pinv(x)
    return back, back @ wanted.log() * x.shape[0] ** 0.5

# %% two mistakes: no logarithm, and no root of d_k
def projections_for(x, wanted):
    back = torch.linalg.pinv(x)
    return back @ wanted, back

# %% two mistakes: the logarithm to base 10, and the table turned
def projections_for(x, wanted):
    back = torch.linalg.pinv(x)
    return back @ wanted.log10().T * x.shape[0] ** 0.5, back

# %% right: the keys are whole, d_k is d_model, and W_q does all of the work
def projections_for(x, wanted):
    back = torch.linalg.pinv(x)
    W_k = torch.eye(x.shape[1], dtype=x.dtype)
    return x.shape[1] ** 0.5 * back @ wanted.log() @ back.T, W_k

# %% right: from the singular vectors of the scores, a factor for each side
def projections_for(x, wanted):
    U, size, Vh = torch.linalg.svd(wanted.log())
    root = size.sqrt()
    back = torch.linalg.lstsq(x, torch.eye(len(x), dtype=x.dtype)).solution
    return back @ (U * root) * len(x) ** 0.5, back @ (Vh.T * root)

# %% right: one column less, since a constant per row does not change a softmax
def projections_for(x, wanted):
    scores = wanted.log()
    scores = (scores - scores[:, :1])[:, 1:]  # (L, L - 1): the first key scores 0
    keys = torch.eye(len(x), dtype=x.dtype)[:, 1:]  # (L, L - 1)
    back = x.T @ torch.linalg.inv(x @ x.T)
    return back @ scores * math.sqrt(len(x) - 1), back @ keys

# %% wrong: takes the table of scores transposed, so rows and columns have changed places
def projections_for(x, wanted):
    undo = torch.linalg.pinv(x)
    return undo @ wanted.log().T * len(x) ** 0.5, undo
