# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: uses eps as a lower limit of the variance (clamp) instead of adding it
def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = (centered**2).mean(dim=-1, keepdim=True)
    return centered / variance.clamp(min=eps).sqrt() * weight + bias


# %% wrong: replaces vectors of variance 0 by zeros with torch.where; the output is right, but no gradient reaches x there, where the formula gives one
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(dim=-1, keepdim=True)
    normalized = (x - mean) / torch.sqrt(variance + eps)
    normalized = torch.where(variance < 1e-10, torch.zeros_like(normalized), normalized)
    return weight * normalized + bias


# %% wrong: adds the bias before the scale, (normalized + bias) * weight, right while the weights are 1 or the biases 0
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, keepdim=True, unbiased=False)
    normalized = (x - mean) / (variance + eps) ** 0.5
    return (normalized + bias) * weight


# %% wrong: takes the root of the variance, squares it again and adds eps; the output is right, but the gradient of a vector of equal numbers is nan
def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    sigma = torch.sqrt(torch.mean(centered**2, dim=-1, keepdim=True))
    return weight * centered / torch.sqrt(sigma**2 + eps) + bias


# %% two mistakes: divides the sum of squares by d_model - 1 instead of d_model; and adds the bias before the scale
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True)
    variance = ((x - mean) ** 2).sum(dim=-1, keepdim=True) / (x.shape[-1] - 1)
    return ((x - mean) / torch.sqrt(variance + eps) + bias) * weight


# %% right: centers by a product with the matrix I - 1/d, squares by einsum, multiplies with rsqrt
def layer_norm(x, weight, bias, eps):
    d = x.shape[-1]
    centered = x @ (torch.eye(d, dtype=x.dtype) - torch.full((d, d), 1 / d, dtype=x.dtype))
    variance = torch.einsum("bld,bld->bl", centered, centered) / d
    return torch.addcmul(bias, centered * torch.rsqrt(variance + eps).unsqueeze(-1), weight)


# %% right: a loop over the vectors with torch.var_mean (correction 0), stacked again
def layer_norm(x, weight, bias, eps):
    rows = []
    for vector in x.reshape(-1, x.shape[-1]):
        variance, mean = torch.var_mean(vector, dim=0, correction=0)
        rows.append((vector - mean).div((variance + eps).sqrt()).mul(weight).add(bias))
    return torch.stack(rows).view_as(x)
