# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: takes the root of the variance first and squares it again under the final root, so the gradient is not finite at a vector of equal numbers (the output is right)
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True)
    std = (x - mean).pow(2).mean(dim=-1, keepdim=True).sqrt()
    return (x - mean) / torch.sqrt(std**2 + eps) * weight + bias


# %% wrong: adds eps to the standard deviation, outside the root (only a fixed tiny number stands inside)
def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(-1, keepdim=True)
    variance = (centered**2).mean(-1, keepdim=True)
    return centered / ((variance + 1e-12).sqrt() + eps) * weight + bias


# %% wrong: takes mean and variance over all positions of a sequence together, not vector by vector; right only for length 1
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=(1, 2), keepdim=True)
    var = x.var(dim=(1, 2), keepdim=True, unbiased=False)
    return weight * (x - mean) / torch.sqrt(var + eps) + bias


# %% wrong: treats mean and variance as constants (detach), so the gradient of x is wrong though the output is right
def layer_norm(x, weight, bias, eps):
    mean = x.mean(dim=-1, keepdim=True).detach()
    var = x.var(dim=-1, keepdim=True, correction=0).detach()
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


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


# %% right: a loop over the single vectors with var_mean, joined with stack
def layer_norm(x, weight, bias, eps):
    out = []
    for v in x.reshape(-1, x.shape[-1]):
        var, mean = torch.var_mean(v, dim=0, correction=0)
        out.append((v - mean) * (var + eps) ** -0.5 * weight + bias)
    return torch.stack(out).reshape(x.shape)
