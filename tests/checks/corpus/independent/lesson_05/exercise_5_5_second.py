# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: adds minus infinity to hidden scores and replaces the NaNs of fully hidden rows by 0 afterwards; the weights are right but the gradient of those rows is NaN
def masked_softmax(scores, mask):
    bias = torch.zeros_like(scores).masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores + bias, dim=-1)
    return torch.nan_to_num(weights, nan=0.0)

# %% wrong: subtracts the maximum over all keys, hidden ones too, so the visible weights underflow when a hidden score lies far above, and the row becomes 0
def masked_softmax(scores, mask):
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(total > 0, total, torch.ones_like(total))

# %% wrong: fills with the smallest number and leaves it there, so a fully hidden row gets uniform weights instead of zeros
def masked_softmax(scores, mask):
    filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return torch.softmax(filled, dim=-1)

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
