# %% setup
import math

import torch


def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = torch.arange(num_positions)[:, None] * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: takes the one-step matrix to the power int(delta), so a fraction of a step is cut off
def shift_matrix(delta, d_model):
    step = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(d_model // 2):
        w = 10000 ** (-2 * i / d_model)
        block = [[math.cos(w), math.sin(w)], [-math.sin(w), math.cos(w)]]
        step[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor(block)
    return torch.linalg.matrix_power(step, int(delta)).float()


# %% wrong: takes the sine as sqrt(1 - cos^2), which is never negative: wrong for negative delta and for angles above 180 degrees
def shift_matrix(delta, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        cos = math.cos(delta * 10000 ** (-2 * i / d_model))
        sin = math.sqrt(1 - cos**2)
        M[2 * i, 2 * i], M[2 * i, 2 * i + 1] = cos, sin
        M[2 * i + 1, 2 * i], M[2 * i + 1, 2 * i + 1] = -sin, cos
    return M


# %% wrong: pairs row i with row i + d_model / 2 as RoPE does, instead of neighbors as the table has them; right for d_model 2
def shift_matrix(delta, d_model):
    half = d_model // 2
    angles = delta * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    cos, sin = torch.diag(angles.cos()), torch.diag(angles.sin())
    top = torch.cat([cos, sin], dim=1)
    bottom = torch.cat([-sin, cos], dim=1)
    return torch.cat([top, bottom], dim=0).reshape(2 * half, 2 * half)


# %% wrong: divides the exponent by the number of pairs instead of by d_model (10000 ** (-2i / (d_model / 2))), right for d_model 2
def shift_matrix(delta, d_model):
    num_pairs = d_model // 2
    blocks = []
    for i in range(num_pairs):
        a = torch.tensor(delta * 10000 ** (-2 * i / num_pairs))
        blocks.append(torch.stack([torch.stack([a.cos(), a.sin()]), torch.stack([-a.sin(), a.cos()])]))
    return torch.block_diag(*blocks).float()


# %% right: matrix exponential of delta times the generator (frequencies beside the diagonal), in float64 and then rounded
def shift_matrix(delta, d_model):
    beside = torch.zeros(d_model - 1, dtype=torch.float64)
    beside[0::2] = 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    generator = torch.diag(beside, 1) - torch.diag(beside, -1)
    return torch.linalg.matrix_exp(delta * generator).to(torch.float32)


# %% right: one einsum of pair selectors with the cosines times the identity plus the sines times the quarter turn
def shift_matrix(delta, d_model):
    angles = delta * torch.pow(10000.0, torch.arange(d_model // 2) * (-2 / d_model))
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    blocks = torch.cos(angles)[:, None, None] * torch.eye(2) + torch.sin(angles)[:, None, None] * turn
    place = torch.eye(d_model).view(d_model, d_model // 2, 2)
    return torch.einsum("api,pij,bpj->ab", place, blocks, place)
