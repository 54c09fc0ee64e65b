# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: the signs of the two sines are swapped, so the matrix shifts backward
def shift_matrix(delta, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        angle = torch.tensor(delta * 10000.0 ** (-2 * i / d_model))
        M[2 * i, 2 * i] = M[2 * i + 1, 2 * i + 1] = angle.cos()
        M[2 * i, 2 * i + 1] = -angle.sin()
        M[2 * i + 1, 2 * i] = angle.sin()
    return M


# %% wrong: makes a whole number of delta, so fractions are cut off
def shift_matrix(delta, d_model):
    delta = int(delta)
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    c, s = (delta * omega).cos(), (delta * omega).sin()
    blocks = torch.stack([torch.stack([c, s], -1), torch.stack([-s, c], -1)], -2)
    return torch.block_diag(*blocks)


# %% wrong: joins the sine rows first and the cosine rows after (halves), which is not the layout of the table of 8.1; right only for d_model 2
def shift_matrix(delta, d_model):
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    c, s = torch.diag((delta * omega).cos()), torch.diag((delta * omega).sin())
    top = torch.cat([c, s], dim=1)
    bottom = torch.cat([-s, c], dim=1)
    return torch.cat([top, bottom], dim=0)


# %% wrong: uses the absolute value of delta, so negative shifts go forward
def shift_matrix(delta, d_model):
    M = torch.zeros(d_model, d_model)
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = abs(delta) * omega
    even = torch.arange(0, d_model, 2)
    M[even, even] = angle.cos()
    M[even + 1, even + 1] = angle.cos()
    M[even, even + 1] = angle.sin()
    M[even + 1, even] = -angle.sin()
    return M


# %% right: the matrix exponential of the generator, in float64
def shift_matrix(delta, d_model):
    G = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(d_model // 2):
        omega = 10000.0 ** (-2 * i / d_model)
        G[2 * i, 2 * i + 1] = omega
        G[2 * i + 1, 2 * i] = -omega
    return torch.linalg.matrix_exp(float(delta) * G).to(torch.float32)


# %% right: diagonals put together with diag and diag_embed with offsets
def shift_matrix(delta, d_model):
    pair = torch.arange(d_model) // 2
    angle = delta * torch.pow(10000.0, -2.0 * pair.double() / d_model)
    side = angle.sin()[:-1].clone()
    side[1::2] = 0.0  # no link between one pair and the next
    M = torch.diag(angle.cos()) + torch.diag(side, 1) - torch.diag(side, -1)
    return M.float()
