# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: adds eps outside the root
def rms_norm(x, weight, eps):
    rms = x.norm(dim=-1, keepdim=True) / x.shape[-1] ** 0.5
    return x / (rms + eps) * weight


# %% wrong: takes the mean off first, so it is the norm with the standard deviation
def rms_norm(x, weight, eps):
    x = x - x.mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps) * weight


# %% wrong: computes in float32 and returns float32, so the dtype of a float64 x is lost
def rms_norm(x, weight, eps):
    x = x.float()
    ms = x.pow(2).mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(ms + eps) * weight.float()


# %% wrong: sums the squares instead of taking their mean, so vectors get length 1 instead of mean square 1
def rms_norm(x, weight, eps):
    total = (x * x).sum(dim=-1, keepdim=True)
    return weight * x / torch.sqrt(total + eps)


# %% right: einsum for the sum of squares, eps scaled along with it
def rms_norm(x, weight, eps):
    d = x.shape[-1]
    squares = torch.einsum("...d,...d->...", x, x)
    return x * weight * (d / (squares + d * eps)).sqrt()[..., None]


# %% right: the norm of the vector with one more entry that stands for eps
def rms_norm(x, weight, eps):
    d = x.shape[-1]
    extra = torch.full_like(x[..., :1], (eps * d) ** 0.5)
    length = torch.linalg.vector_norm(torch.cat([x, extra], dim=-1), dim=-1, keepdim=True)
    return (x / (length / d**0.5)).mul(weight)
