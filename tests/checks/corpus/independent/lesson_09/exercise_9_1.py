# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: uses the variance with d_model - 1 in the denominator
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


# %% wrong: adds eps to the standard deviation instead of adding it to the variance inside the root
def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    std = x.std(dim=-1, keepdim=True, unbiased=False)
    return centered / (std + eps) * weight + bias


# %% wrong: takes mean and variance over positions and features together instead of over each vector by itself
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=(1, 2), keepdim=True)
    var = ((x - mean) ** 2).mean(dim=(1, 2), keepdim=True)
    return weight * (x - mean) / (var + eps).sqrt() + bias


# %% wrong: treats mean and variance as constants (no_grad), so the gradient of x lacks the share that goes through them
def layer_norm(x, weight, bias, eps):
    with torch.no_grad():
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


# %% wrong: takes the root of the variance and squares it again before eps is added, so the gradient is not a number where the variance is 0
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True)
    std = (x - mean).pow(2).mean(dim=-1, keepdim=True).sqrt()
    return (x - mean) / (std**2 + eps).sqrt() * weight + bias


# %% wrong: takes the mean off in place, so the caller's x is changed (and a leaf that needs a gradient gives an error)
def layer_norm(x, weight, bias, eps):
    x -= x.mean(dim=-1, keepdim=True)
    var = (x * x).mean(dim=-1, keepdim=True)
    return x / (var + eps).sqrt() * weight + bias


# %% two mistakes: adds the bias before the weight is multiplied; and always uses 1e-5 instead of the given eps
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, keepdim=True, unbiased=False)
    normed = (x - mean) / torch.sqrt(var + 1e-5)
    return (normed + bias) * weight


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


# %% right: works on all pairs of features of a vector: the variance is half their mean squared difference, the centered value their mean difference
def layer_norm(x, weight, bias, eps):
    pairs = x.unsqueeze(-1) - x.unsqueeze(-2)  # (B, L, d, d)
    var = pairs.square().mean(dim=(-2, -1)).unsqueeze(-1) / 2
    return pairs.mean(dim=-1) * torch.rsqrt(var + eps) * weight + bias
