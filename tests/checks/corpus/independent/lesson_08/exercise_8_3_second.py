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


# %% wrong: looks the positions up in a table with only L rows, so a position of L or more is an index error
def rope(x, positions, base):
    L, d = x.shape[-2], x.shape[-1]
    freq = float(base) ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    table = torch.arange(L, dtype=torch.float64)[:, None] * freq
    angle = table[positions]
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


# %% wrong: writes the turned features into x itself, so the caller's tensor is changed
def rope(x, positions, base):
    d = x.shape[-1]
    h = d // 2
    angle = positions[:, None].double() * float(base) ** (-torch.arange(h, dtype=torch.float64) * 2 / d)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :h].clone(), x[..., h:].clone()
    x[..., :h] = a * cos - b * sin
    x[..., h:] = a * sin + b * cos
    return x


# %% wrong: takes 10000 for the base, whatever base is passed
def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    omega = torch.exp(-torch.arange(0, d, 2, dtype=torch.float64) / d * torch.log(torch.tensor(10000.0, dtype=torch.float64)))
    angle = torch.outer(positions.double(), omega)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    cos, sin = angle.cos().to(x), angle.sin().to(x)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


# %% right: multiplication of complex numbers in complex128
def rope(x, positions, base):
    d = x.shape[-1]
    omega = torch.tensor([float(base) ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
    angle = torch.outer(positions.double(), omega)
    turn = torch.polar(torch.ones_like(angle), angle)
    a, b = x.double().split(d // 2, dim=-1)
    z = torch.complex(a, b) * turn
    return torch.cat([z.real, z.imag], dim=-1).to(x.dtype)


# %% right: a rotation matrix for each position, applied with einsum
def rope(x, positions, base):
    d = x.shape[-1]
    h = d // 2
    omega = float(base) ** (-2.0 * torch.arange(h, dtype=torch.float64) / d)
    angle = positions.to(torch.float64)[:, None] * omega
    C, S = torch.diag_embed(angle.cos()), torch.diag_embed(angle.sin())
    R = torch.cat([torch.cat([C, -S], dim=2), torch.cat([S, C], dim=2)], dim=1)  # (L, d, d)
    return torch.einsum("lij,bhlj->bhli", R, x.double()).to(x.dtype)
