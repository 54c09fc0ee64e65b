# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: takes the mean off in place, so the caller's x is changed (and a leaf that needs a gradient gives an error)
def layer_norm(x, weight, bias, eps):
    x -= x.mean(dim=-1, keepdim=True)
    var = (x * x).mean(dim=-1, keepdim=True)
    return x / (var + eps).sqrt() * weight + bias

# %% right: features brought to the front, einsum for the variance and addcmul for scale and shift
def layer_norm(x, weight, bias, eps):
    y = x.permute(2, 0, 1)  # (d_model, B, L)
    y = y - y.mean(dim=0)
    var = torch.einsum("dbl,dbl->bl", y, y) / y.shape[0]
    return torch.addcmul(bias, (y / (var + eps).sqrt()).permute(1, 2, 0), weight)

# %% right: a loop over all vectors, with var_mean
def layer_norm(x, weight, bias, eps):
    rows = []
    for vector in x.reshape(-1, x.shape[-1]):
        var, mean = torch.var_mean(vector, correction=0)
        rows.append((vector - mean) * (var + eps) ** -0.5)
    return torch.stack(rows).view(x.shape) * weight + bias

# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% two mistakes: uses the unbiased variance (divides by d_model - 1); and adds the bias before the scale, so the bias is scaled too
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, keepdim=True)
    return ((x - mean) / torch.sqrt(var + eps) + bias) * weight

# %% right: sum divided by d, variance by einsum, scale and shift in one addcmul
def layer_norm(x, weight, bias, eps):
    d = x.shape[-1]
    c = x - x.sum(dim=-1, keepdim=True) / d
    var = torch.einsum("bld,bld->bl", c, c).unsqueeze(-1) / d
    return torch.addcmul(bias, c * (var + eps).rsqrt(), weight)

# %% setup
import torch

# %% wrong: divides by the length of the centered vector, so its entries have a sum of squares of 1
def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(-1, keepdim=True)
    return centered / (centered.square().sum(-1, keepdim=True) + eps).sqrt() * weight + bias

# %% wrong: takes mean and variance over the batch
def layer_norm(x, weight, bias, eps):
    mean, variance = x.mean(0, keepdim=True), x.var(0, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias

# %% wrong: divides by the variance, without the root
def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(-1, keepdim=True)
    return centered / (centered.square().mean(-1, keepdim=True) + eps) * weight + bias
