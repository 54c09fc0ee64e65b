# %% setup
import torch

# %% wrong: pairs neighboring features (2 i, 2 i + 1) instead of (i, i + d_head / 2)
def rope(x, positions, base):
    d_head = x.shape[-1]
    omega = base ** (-torch.arange(0, d_head, 2, dtype=x.dtype) / d_head)
    angle = positions[:, None] * omega
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

# %% wrong: turns x into float32 first and returns float32 whatever the dtype of x was
def rope(x, positions, base):
    x = x.float()
    d_head = x.shape[-1]
    angle = positions.float()[:, None] * base ** (-torch.arange(0, d_head, 2).float() / d_head)
    cos, sin = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin

# %% two mistakes: uses the exponent -i / d_head instead of -2 i / d_head; and takes base 10000 whatever base is given
def rope(x, positions, base):
    half = x.shape[-1] // 2
    omega = 10000.0 ** (-torch.arange(half, dtype=x.dtype) / x.shape[-1])
    angle = positions[:, None] * omega
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)

# %% wrong: angles in float64 are multiplied with x without casting back, so a float32 x comes back as float64
def rope(x, positions, base):
    d_head = x.shape[-1]
    freq = base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    angle = positions.double()[:, None] * freq
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)

# %% right: complex multiplication in float64, real and imaginary part side by side, cast back to the dtype of x
def rope(x, positions, base):
    half = x.shape[-1] // 2
    theta = positions.double().outer(float(base) ** (-torch.arange(half, dtype=torch.float64) / half))
    a, b = x.double().split(half, dim=-1)
    z = torch.complex(a, b) * torch.polar(torch.ones_like(theta), theta)
    return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)

# %% right: one rotation matrix for each token and pair, multiplied by einsum with x viewed as (B, H, L, 2, d_head / 2)
def rope(x, positions, base):
    d_head = x.shape[-1]
    pair = torch.arange(d_head // 2).to(torch.float64)
    angle = torch.einsum("l,p->lp", positions.to(torch.float64), torch.as_tensor(base, dtype=torch.float64) ** (-2 * pair / d_head))
    c, s = torch.cos(angle), torch.sin(angle)
    turn = torch.stack([torch.stack([c, -s]), torch.stack([s, c])]).to(x.dtype)  # (2, 2, L, d_head / 2)
    return torch.einsum("ijlp,bhljp->bhlip", turn, x.unflatten(-1, (2, d_head // 2))).flatten(-2)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: turns the pairs (2i, 2i + 1) instead of (i, i + d_head / 2); the same only for d_head 2
def rope(x, positions, base):
    d = x.shape[-1]
    angle = positions[:, None].double() * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

# %% right: multiplication of complex numbers in complex128
def rope(x, positions, base):
    d = x.shape[-1]
    omega = torch.tensor([float(base) ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
    angle = torch.outer(positions.double(), omega)
    turn = torch.polar(torch.ones_like(angle), angle)
    a, b = x.double().split(d // 2, dim=-1)
    z = torch.complex(a, b) * turn
    return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)

# %% setup
import math

import torch

# %% wrong: rotate_half without the minus, a reflection
def rope(x, positions, base):
    d = x.shape[-1]
    w = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    a = (positions[:, None] * w).repeat(1, 2)
    return x * a.cos().to(x.dtype) + x.roll(d // 2, -1) * a.sin().to(x.dtype)

# %% wrong: angles in float32 for the float64 case
def rope(x, positions, base):
    d = x.shape[-1]
    w = base ** (-torch.arange(0, d, 2) / d)
    a = positions[:, None] * w
    p, q = x.chunk(2, -1)
    return torch.cat([p * a.cos() - q * a.sin(), p * a.sin() + q * a.cos()], -1).to(x.dtype)
