# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: puts all sines into the left half and all cosines into the right half instead of alternating columns
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(num_positions)[:, None] * omega
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


# %% wrong: raises an AssertionError instead of a ValueError for an odd d_model
def sinusoidal_table(num_positions, d_model):
    assert d_model % 2 == 0, "d_model must be even"
    pos = torch.arange(num_positions, dtype=torch.float32)[:, None]
    omega = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
    table = torch.zeros(num_positions, d_model)
    table[:, 0::2] = torch.sin(pos * omega)
    table[:, 1::2] = torch.cos(pos * omega)
    return table


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


# %% right: all in Python's math module, number by number
def sinusoidal_table(num_positions, d_model):
    import math
    if d_model % 2 != 0:
        raise ValueError(f"d_model is odd: {d_model}")
    rows = []
    for pos in range(num_positions):
        row = []
        for i in range(d_model // 2):
            angle = pos * 10000.0 ** (-2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32)


# %% right: real and imaginary part of complex exponentials in complex128
def sinusoidal_table(num_positions, d_model):
    pairs, rest = divmod(d_model, 2)
    if rest:
        raise ValueError("need an even d_model")
    exponent = torch.arange(pairs, dtype=torch.float64) * (-2.0 / d_model)
    angle = torch.outer(torch.arange(num_positions, dtype=torch.float64), torch.pow(torch.tensor(1e4, dtype=torch.float64), exponent))
    turned = torch.view_as_real(torch.polar(torch.ones_like(angle), angle))  # (..., 2): cos, sin
    return turned.flip(-1).reshape(num_positions, d_model).float()
