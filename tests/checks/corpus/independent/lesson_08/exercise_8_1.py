# %% setup
import torch

# %% wrong: puts all sines into the left half and all cosines into the right half instead of alternating columns
def sinusoidal_table(num_positions, d_model):
    if d_model % 2 == 1:
        raise ValueError("d_model must be even")
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(num_positions)[:, None] * omega
    return torch.cat([angle.sin(), angle.cos()], dim=1)


# %% wrong: uses the exponent -i / d_model instead of -2 i / d_model
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError(f"d_model has to be even, not {d_model}")
    table = torch.zeros(num_positions, d_model)
    i = torch.arange(d_model // 2)
    angle = torch.arange(num_positions).unsqueeze(1) * 10000.0 ** (-i / d_model)
    table[:, 0::2] = torch.sin(angle)
    table[:, 1::2] = torch.cos(angle)
    return table


# %% wrong: gives every column its own frequency, so the cosine of a pair has the exponent -(2 i + 1) / d_model
def sinusoidal_table(num_positions, d_model):
    if d_model % 2 != 0:
        raise ValueError("an odd d_model has no pairs")
    columns = torch.arange(d_model)
    angle = torch.arange(num_positions)[:, None] / 10000.0 ** (columns / d_model)
    angle[:, 0::2] = angle[:, 0::2].sin()
    angle[:, 1::2] = angle[:, 1::2].cos()
    return angle


# %% wrong: an odd d_model raises an AssertionError, not a ValueError
def sinusoidal_table(num_positions, d_model):
    assert d_model % 2 == 0, "d_model must be even"
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = torch.outer(torch.arange(num_positions).float(), omega)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


# %% wrong: computes the cosine as the root of 1 - sin^2, which loses its sign
def sinusoidal_table(num_positions, d_model):
    if d_model % 2 == 1:
        raise ValueError("d_model must be even")
    pos = torch.arange(num_positions, dtype=torch.float64)[:, None]
    omega = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    sine = (pos * omega).sin()
    cosine = (1 - sine**2).clamp(min=0).sqrt()
    return torch.stack([sine, cosine], dim=2).reshape(num_positions, d_model).float()


# %% wrong: computes in float64 and forgets to turn the table back to float32
def sinusoidal_table(num_positions, d_model):
    if d_model % 2 == 1:
        raise ValueError("d_model must be even")
    pos = torch.arange(num_positions, dtype=torch.float64)
    pair = torch.arange(d_model // 2, dtype=torch.float64)
    angle = pos[:, None] * 10000.0 ** (-2 * pair / d_model)
    table = torch.empty(num_positions, d_model, dtype=torch.float64)
    table[:, ::2], table[:, 1::2] = angle.sin(), angle.cos()
    return table


# %% two mistakes: counts the positions from 1; and divides the pair by d_model / 2 - 1, so that the last frequency is exactly 1/10000 (not a number for d_model 2)
def sinusoidal_table(num_positions, d_model):
    if d_model % 2 == 1:
        raise ValueError("d_model must be even")
    half = d_model // 2
    omega = 10000.0 ** (-torch.arange(half) / torch.tensor(half - 1.0))
    angle = torch.arange(1, num_positions + 1)[:, None] * omega
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


# %% right: a plain double loop with the math module
def sinusoidal_table(num_positions, d_model):
    import math

    if d_model % 2:
        raise ValueError("no pairs for an odd d_model")
    rows = []
    for pos in range(num_positions):
        row = []
        for i in range(d_model // 2):
            angle = pos * math.pow(10000.0, -2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32)


# %% right: real and imaginary part of complex numbers of length 1
def sinusoidal_table(num_positions, d_model):
    if d_model != 2 * (d_model // 2):
        raise ValueError("d_model is odd")
    angle = torch.arange(num_positions, dtype=torch.float64)[:, None] * torch.logspace(
        0, -4 * (d_model - 2) / d_model, d_model // 2, base=10.0, dtype=torch.float64
    )
    turned = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flip(-1).flatten(-2).to(torch.float32)


# %% right: only sines, with a quarter turn added in the odd columns, and a frequency from exp and log
def sinusoidal_table(num_positions, d_model):
    import math

    if d_model & 1:
        raise ValueError("d_model must be even, or half a pair is left")
    column = torch.arange(d_model)
    omega = torch.exp((column // 2).double() * (-2 * math.log(10000.0) / d_model))
    angle = torch.einsum("p,c->pc", torch.arange(num_positions).double(), omega)
    return torch.sin(angle + (column % 2) * (math.pi / 2)).float()


# %% wrong: named in the review: the table is cut at 50 rows
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = torch.arange(min(num_positions, 50)).unsqueeze(1) * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
