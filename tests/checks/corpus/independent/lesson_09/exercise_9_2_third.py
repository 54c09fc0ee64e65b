# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: divides the sum of squares by x.shape[1], the length of the sequence, instead of d_model; right when both are equal
def rms_norm(x, weight, eps):
    mean_square = x.pow(2).sum(dim=-1, keepdim=True) / x.shape[1]
    return x / torch.sqrt(mean_square + eps) * weight


# %% wrong: scales the features first and divides by the root mean square of the scaled vector, right when all weights are 1
def rms_norm(x, weight, eps):
    scaled = x * weight
    return scaled / torch.sqrt((scaled**2).mean(dim=-1, keepdim=True) + eps)


# %% wrong: takes the root before the mean, the mean of sqrt(square + eps), so the divisor is nearly the mean absolute value
def rms_norm(x, weight, eps):
    divisor = torch.sqrt(x**2 + eps).mean(dim=-1, keepdim=True)
    return x / divisor * weight


# %% wrong: computes the divisor under no_grad, so the output is right but the gradient of x lacks the part through the root mean square
def rms_norm(x, weight, eps):
    with torch.no_grad():
        divisor = torch.sqrt(x.square().mean(dim=-1, keepdim=True) + eps)
    return x / divisor * weight


# %% right: appends root of (d_model * eps) as one more feature and takes the ordinary length of the longer vector, over root of d_model
def rms_norm(x, weight, eps):
    d = x.shape[-1]
    extra = torch.full_like(x[..., :1], (d * eps) ** 0.5).detach()
    length = torch.linalg.vector_norm(torch.cat([x, extra], dim=-1), dim=-1, keepdim=True)
    return weight * x * d**0.5 / length


# %% right: diagonal of the Gram matrix of the positions as sums of squares, exponent -1/2, scaled by einsum
def rms_norm(x, weight, eps):
    squares = torch.matmul(x, x.mT).diagonal(dim1=-2, dim2=-1)  # (B, L)
    inverse = torch.pow(squares / x.shape[-1] + eps, -0.5)
    return torch.einsum("bld,bl,d->bld", x, inverse, weight)
