# %% setup
import torch

# %% right: mean of the squares minus the squared mean, in float64 and back
def layer_norm(x, weight, bias, eps):
    wide = x.double()
    mean = wide.mean(-1, keepdim=True)
    variance = (wide * wide).mean(-1, keepdim=True) - mean * mean
    normed = (wide - mean) * (variance + eps).rsqrt()
    return (normed * weight.double() + bias.double()).to(x.dtype)

# %% wrong: divides by the length of the centered vector, so its entries have a sum of squares of 1
def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(-1, keepdim=True)
    return centered / (centered.square().sum(-1, keepdim=True) + eps).sqrt() * weight + bias

# %% wrong: takes mean and variance over the batch
def layer_norm(x, weight, bias, eps):
    mean, variance = x.mean(0, keepdim=True), x.var(0, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias

# %% wrong: takes the mean of the squares of x itself for the variance
def layer_norm(x, weight, bias, eps):
    variance = x.square().mean(-1, keepdim=True)
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(variance + eps) * weight + bias

# %% wrong: divides by the variance, without the root
def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(-1, keepdim=True)
    return centered / (centered.square().mean(-1, keepdim=True) + eps) * weight + bias
