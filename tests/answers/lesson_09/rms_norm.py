# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: takes the sum of the squares instead of their mean, so every vector gets length 1
def rms_norm(x, weight, eps):
    return x * torch.rsqrt((x * x).sum(dim=-1, keepdim=True) + eps) * weight

# %% two mistakes: averages over the positions (dim 1) instead of the features; and divides by the mean square without taking the root
def rms_norm(x, weight, eps):
    mean_square = x.pow(2).mean(dim=1, keepdim=True)
    return x / (mean_square + eps) * weight

# %% wrong: named in the review: takes the unbiased variance (n - 1) without taking the mean off
def rms_norm(x, weight, eps):
    return x / (x.pow(2).sum(dim=-1, keepdim=True) / (x.shape[-1] - 1) + eps).sqrt() * weight

# %% right: norm of the vector made longer by one feature that holds the root of d_model times eps
def rms_norm(x, weight, eps):
    d = x.shape[-1]
    extra = torch.full_like(x[..., :1], (d * eps) ** 0.5)
    length = torch.linalg.vector_norm(torch.cat([x, extra], dim=-1), dim=-1, keepdim=True)
    return x * (d**0.5 / length) * weight

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: length 1 by F.normalize, then times the root of d_model; eps is only a lower limit
def rms_norm(x, weight, eps):
    return F.normalize(x, dim=-1, eps=eps) * x.shape[-1] ** 0.5 * weight

# %% wrong: eps is added to the square root's inverse
def rms_norm(x, weight, eps):
    return x * (x.square().mean(-1, keepdim=True).rsqrt() + eps) * weight

# %% right: the root of the mean as an exponent, the scale first in line
def rms_norm(x, weight, eps):
    return weight * x * (torch.linalg.vecdot(x, x).unsqueeze(-1) / x.shape[-1] + eps) ** -0.5

# %% setup
import torch

# %% right: the length of each vector with one more entry, the root of eps times d
def rms_norm(x, weight, eps):
    d = x.shape[-1]
    longer = torch.nn.functional.pad(x, (0, 1), value=(eps * d) ** 0.5)
    return x / torch.linalg.vector_norm(longer, dim=-1, keepdim=True) * (d**0.5 * weight)
