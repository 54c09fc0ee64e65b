# %% setup
import math

import torch


# %% right: the page's loop, with the odd case refused
def sinusoidal_table(num_positions, d_model):
    if d_model % 2 == 1:
        raise ValueError("features come in pairs")
    table = torch.zeros(num_positions, d_model)
    for pos in range(num_positions):
        for i in range(d_model // 2):
            angle = pos * 10000 ** (-2 * i / d_model)
            table[pos, 2 * i] = math.sin(angle)
            table[pos, 2 * i + 1] = math.cos(angle)
    return table


# %% right: frequencies as exp of a logarithm, filled column by column
def sinusoidal_table(num_positions, d_model):
    if d_model & 1:
        raise ValueError(f"{d_model} is odd")
    pos = torch.arange(num_positions, dtype=torch.float32)
    columns = []
    for i in range(d_model // 2):
        omega = math.exp(-math.log(10000.0) * 2 * i / d_model)
        columns.append(torch.sin(pos * omega))
        columns.append(torch.cos(pos * omega))
    return torch.stack(columns, dim=1)


# %% wrong: the loop of the page as it stands; an odd d_model leaves its last column zero
def sinusoidal_table(num_positions, d_model):
    table = torch.zeros(num_positions, d_model)
    for pos in range(num_positions):
        for i in range(d_model // 2):
            angle = pos * 10000 ** (-2 * i / d_model)
            table[pos, 2 * i] = math.sin(angle)
            table[pos, 2 * i + 1] = math.cos(angle)
    return table


# %% wrong: 2i is counted twice: arange in steps of two, and times two again
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("odd")
    i = torch.arange(0, d_model, 2)
    angle = torch.arange(num_positions)[:, None] / 10000 ** (2 * i / d_model)
    table = torch.zeros(num_positions, d_model)
    table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
    return table


# %% wrong: frequencies grow instead of falling, the minus is missing
def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("odd")
    omega = 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(num_positions)[:, None] * omega
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
