# %% setup
import torch

# %% wrong: puts all sines into the left half and all cosines into the right half instead of alternating columns
def sinusoidal_table(num_positions, d_model):
    if d_model % 2 == 1:
        raise ValueError("d_model must be even")
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(num_positions)[:, None] * omega
    return torch.cat([angle.sin(), angle.cos()], dim=1)

# %% wrong: an odd d_model raises an AssertionError, not a ValueError
def sinusoidal_table(num_positions, d_model):
    assert d_model % 2 == 0, "d_model must be even"
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = torch.outer(torch.arange(num_positions).float(), omega)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)

# %% wrong: named in the review: the table is cut at 50 rows
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = torch.arange(min(num_positions, 50)).unsqueeze(1) * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)

# %% right: real and imaginary part of complex numbers of length 1
def sinusoidal_table(num_positions, d_model):
    if d_model != 2 * (d_model // 2):
        raise ValueError("d_model is odd")
    angle = torch.arange(num_positions, dtype=torch.float64)[:, None] * torch.logspace(
        0, -4 * (d_model - 2) / d_model, d_model // 2, base=10.0, dtype=torch.float64
    )
    turned = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flip(-1).flatten(-2).to(torch.float32)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: forgets the 2 in the exponent, so the frequencies are 10000 ** (-i / d_model)
def sinusoidal_table(num_positions, d_model):
    if d_model % 2 == 1:
        raise ValueError("odd d_model")
    i = torch.arange(d_model // 2)
    omega = 10000.0 ** (-i / d_model)
    angle = torch.arange(num_positions).unsqueeze(1) * omega
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)

# %% wrong: gives the table in float64 instead of float32
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("d_model has to be even")
    pos = torch.arange(num_positions, dtype=torch.float64)
    omega = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = torch.outer(pos, omega)
    return torch.stack((angle.sin(), angle.cos()), dim=2).reshape(num_positions, d_model)

# %% two mistakes: positions counted from 1 instead of 0; and sine and cosine columns swapped
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(1, num_positions + 1)[:, None] * omega
    return torch.stack([angle.cos(), angle.sin()], dim=-1).flatten(-2)

# %% setup
import math

import torch

# %% wrong: tests an odd d_model with assert, so an AssertionError comes instead of a ValueError
def sinusoidal_table(num_positions, d_model):
    assert d_model % 2 == 0, "ValueError: d_model must be even"
    pos = torch.arange(num_positions)[:, None]
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = pos * omega
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

# %% wrong: computes in float64 to be precise and returns float64
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError(f"d_model is {d_model}, but it must be even")
    pos = torch.arange(num_positions, dtype=torch.float64)
    i = torch.arange(d_model // 2, dtype=torch.float64)
    angles = torch.outer(pos, 10000 ** (-2 * i / d_model))
    return torch.stack((torch.sin(angles), torch.cos(angles)), dim=2).reshape(num_positions, d_model)

# %% two mistakes: the cosine as sqrt(1 - sin^2) without its sign; and an odd d_model is cut off silently instead of raising a ValueError
def sinusoidal_table(num_positions, d_model):
    pos = torch.arange(num_positions)[:, None]
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    sines = torch.sin(pos * omega)
    cosines = (1 - sines**2).sqrt()
    return torch.stack([sines, cosines], dim=-1).flatten(1)[:, :d_model]

# %% wrong: frequencies grow instead of falling, the minus is missing
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("odd")
    omega = 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(num_positions)[:, None] * omega
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)

# %% right: complex numbers of length 1 by torch.polar, viewed as pairs (cos, sin) and flipped
def sinusoidal_table(num_positions, d_model):
    if d_model & 1:
        raise ValueError("d_model has to be an even number")
    omega = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angles = torch.outer(torch.arange(num_positions).float(), omega)
    pairs = torch.view_as_real(torch.polar(torch.ones_like(angles), angles))  # (num_positions, pairs, 2): cos, sin
    return pairs.flip(-1).flatten(1)

# %% setup
import math
import torch

# %% right: powers of unit complex numbers, real and imaginary part exchanged
def sinusoidal_table(num_positions, d_model):
    if d_model & 1:
        raise ValueError("sines and cosines come in pairs: d_model must be even")
    i = torch.arange(d_model // 2, dtype=torch.float64)
    angle = torch.outer(torch.arange(num_positions, dtype=torch.float64), 10000 ** (-2 * i / d_model))
    turned = torch.view_as_real(torch.polar(torch.ones_like(angle), angle))
    return turned.flip(-1).reshape(num_positions, d_model).float()
