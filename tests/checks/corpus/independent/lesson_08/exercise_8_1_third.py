# %% setup
import math

import torch


# %% wrong: takes the cosine as sqrt(1 - sin^2), which is never negative, so cosine columns lose their sign once an angle passes 90 degrees (position 2 on)
def sinusoidal_table(num_positions, d_model):
    if d_model % 2 != 0:
        raise ValueError("d_model must be even")
    pos = torch.arange(num_positions)[:, None]
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    table = torch.zeros(num_positions, d_model)
    table[:, 0::2] = torch.sin(pos * omega)
    table[:, 1::2] = torch.sqrt(1 - table[:, 0::2] ** 2)
    return table


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


# %% wrong: spaces the frequencies from 1 down to exactly 1/10000 (exponent i / (pairs - 1)), which agrees only with a single pair
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("an odd d_model cannot be cut into pairs")
    omega = torch.logspace(0, -4, d_model // 2)
    angles = torch.arange(num_positions)[:, None] * omega
    table = torch.empty(num_positions, d_model)
    table[:, ::2], table[:, 1::2] = angles.sin(), angles.cos()
    return table


# %% two mistakes: the cosine as sqrt(1 - sin^2) without its sign; and an odd d_model is cut off silently instead of raising a ValueError
def sinusoidal_table(num_positions, d_model):
    pos = torch.arange(num_positions)[:, None]
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    sines = torch.sin(pos * omega)
    cosines = (1 - sines**2).sqrt()
    return torch.stack([sines, cosines], dim=-1).flatten(1)[:, :d_model]


# %% right: complex numbers of length 1 by torch.polar, viewed as pairs (cos, sin) and flipped
def sinusoidal_table(num_positions, d_model):
    if d_model & 1:
        raise ValueError("d_model has to be an even number")
    omega = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angles = torch.outer(torch.arange(num_positions).float(), omega)
    pairs = torch.view_as_real(torch.polar(torch.ones_like(angles), angles))  # (num_positions, pairs, 2): cos, sin
    return pairs.flip(-1).flatten(1)


# %% right: Python loops with math.sin and math.cos, one row at a time
def sinusoidal_table(num_positions, d_model):
    if d_model % 2 == 1:
        raise ValueError("Each pair needs two columns: choose an even d_model.")
    rows = []
    for pos in range(num_positions):
        row = []
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32)
