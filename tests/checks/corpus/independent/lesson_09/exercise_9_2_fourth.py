# %% setup
import torch
import torch.nn.functional as F

# %% right: the root of the mean as an exponent, the scale first in line
def rms_norm(x, weight, eps):
    return weight * x * (torch.linalg.vecdot(x, x).unsqueeze(-1) / x.shape[-1] + eps) ** -0.5

# %% wrong: length 1 by F.normalize, then times the root of d_model; eps is only a lower limit
def rms_norm(x, weight, eps):
    return F.normalize(x, dim=-1, eps=eps) * x.shape[-1] ** 0.5 * weight

# %% wrong: divides by the mean of the absolute values
def rms_norm(x, weight, eps):
    return x / (x.abs().mean(-1, keepdim=True) + eps) * weight

# %% wrong: eps is added to the square root's inverse
def rms_norm(x, weight, eps):
    return x * (x.square().mean(-1, keepdim=True).rsqrt() + eps) * weight
