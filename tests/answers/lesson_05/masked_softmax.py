# %% setup
import torch

# %% wrong: fills hidden scores with minus infinity and does nothing else, so rows in which everything is hidden become NaN
def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: fills with -1e9, so a row in which everything is hidden gets equal weights instead of zeros
def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)

# %% wrong: fills hidden scores with -10000 and sets hidden weights to 0 afterwards, so a row whose allowed scores are near -100000 becomes all zeros
def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -1e4), dim=-1)
    return weights * mask

# %% wrong: softmax by hand that subtracts the row maximum over hidden keys too, with a tiny number in the denominator, so allowed keys far below a hidden one all get 0
def masked_softmax(scores, mask):
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask
    return e / (e.sum(dim=-1, keepdim=True) + 1e-12)

# %% wrong: exponentials of scores clamped to at most 80, without subtracting a maximum, so different scores above 80 get equal weights and rows near -100000 get zeros
def masked_softmax(scores, mask):
    e = torch.exp(scores.clamp(max=80)) * mask
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30)

# %% wrong: fills with minus infinity and replaces every NaN by 0 afterwards, so a NaN among the allowed scores goes unseen
def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num()

# %% wrong: takes the softmax over the queries, so that columns sum to 1, and hidden weights are set to 0
def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-2)
    return weights.masked_fill(~mask, 0.0)

# %% wrong: takes the softmax over the queries, so that columns sum to 1, and a column in which everything is hidden is NaN
def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-2)

# %% right: minus infinity before the softmax, zeros at the hidden places after it
def masked_softmax(scores, mask):
    return torch.where(mask, torch.softmax(scores.masked_fill(~mask, -torch.inf), -1), 0.0)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: overwrites the hidden scores in place, so the argument changes (and a leaf that requires gradients raises an error)
def masked_softmax(scores, mask):
    scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=-1) * mask

# %% right: fills with the smallest number, then multiplies by the mask, which zeroes the fully hidden rows and their gradient
def masked_softmax(scores, mask):
    low = torch.finfo(scores.dtype).min
    return F.softmax(torch.where(mask, scores, torch.full_like(scores, low)), dim=-1) * mask

# %% right: fully hidden rows are opened before the softmax and filled with 0 after it
def masked_softmax(scores, mask):
    mask = mask.expand_as(scores)
    empty = ~mask.any(dim=-1, keepdim=True)
    filled = scores.masked_fill(~(mask | empty), -torch.inf).masked_fill(empty, 0.0)
    e = torch.exp(filled - filled.amax(dim=-1, keepdim=True).detach())
    return (e / e.sum(dim=-1, keepdim=True)).masked_fill(empty, 0.0)
