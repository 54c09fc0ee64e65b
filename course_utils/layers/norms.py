"""Normalization of each vector by itself: LayerNorm and RMSNorm.

Shape letters: ``*B`` leading (batch, position) dimensions, ``d_model`` size of a vector.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from ..arguments import require_shape
from .fast_rms_norm import FastRMSNorm


def layer_norm(
    x: Float[Tensor, "*B d_model"],
    weight: Float[Tensor, " d_model"],
    bias: Float[Tensor, " d_model"],
    eps: float = 1e-5,
) -> Float[Tensor, "*B d_model"]:
    """Each vector shifted to mean 0 and scaled to variance 1, then scaled and shifted feature by feature.

    The variance is the biased one (divided by ``d_model``, not by one less), and ``eps`` stands inside the root, so that a
    vector of equal numbers does not divide by zero. Half precision is computed in float32, as PyTorch does.

    Source:
        Ba, Kiros, Hinton, "Layer Normalization", 2016, section 3, equations 3 and 4.
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean = wide.mean(dim=-1, keepdim=True)  # (*B, 1)
    variance = (wide - mean).pow(2).mean(dim=-1, keepdim=True)  # (*B, 1)
    return ((wide - mean) / torch.sqrt(variance + eps) * weight + bias).to(x.dtype)


def rms_norm(
    x: Float[Tensor, "*B d_model"], weight: Float[Tensor, " d_model"], eps: float = 1e-6
) -> Float[Tensor, "*B d_model"]:
    """Each vector scaled to a root mean square of 1, then scaled feature by feature. No mean is taken off.

    ``eps`` is added to the mean square, inside the root. Half precision is computed in float32.

    Source:
        Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019, section 4, equation 4.
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean_square = wide.pow(2).mean(dim=-1, keepdim=True)  # (*B, 1)
    return (wide / torch.sqrt(mean_square + eps) * weight).to(x.dtype)


class LayerNorm(nn.Module):
    """``layer_norm`` with its ``weight`` and ``bias``, by PyTorch's fused kernel; the tests hold the two equal."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        _require_positive(d_model=d_model, eps=eps)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Float[Tensor, "*B d_model"]) -> Float[Tensor, "*B d_model"]:
        """Normalize each vector."""
        require_shape("x", x, "... d_model", d_model=self.weight.shape[0])
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class RMSNorm(nn.Module):
    """``rms_norm`` with its ``weight``; the tests hold it equal to PyTorch's."""

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        _require_positive(d_model=d_model, eps=eps)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Float[Tensor, "*B d_model"]) -> Float[Tensor, "*B d_model"]:
        """Normalize each vector."""
        require_shape("x", x, "... d_model", d_model=self.weight.shape[0])
        if x.dtype not in (torch.float32, torch.float64):
            return rms_norm(x, self.weight, self.eps)  # PyTorch's own squares half precision as it is, before 2.6
        if torch.is_grad_enabled():
            return FastRMSNorm.apply(x, self.weight, self.eps)
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


def _require_positive(**sizes: float) -> None:
    for name, size in sizes.items():
        if not size > 0:
            raise ValueError(f"{name} ({size}) must be positive")
