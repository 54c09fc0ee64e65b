# %% setup
import math

import torch


# %% right: blocks on a diagonal
def shift_matrix(delta, d_model):
    blocks = []
    for i in range(d_model // 2):
        a = delta / 10000 ** (2 * i / d_model)
        blocks.append(torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]))
    return torch.block_diag(*blocks)


# %% right: the exponential of a generator
def shift_matrix(delta, d_model):
    G = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        G[i, i + 1] = delta * 10000.0 ** (-i / d_model)
        G[i + 1, i] = -G[i, i + 1]
    return torch.matrix_exp(G).float()


# %% right: least squares over a table of whole positions, in float64
def shift_matrix(delta, d_model):
    omega = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    M = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i, w in enumerate(omega):
        # two times a quarter of a turn apart are enough for one pair
        at = torch.tensor([0.0, math.pi / 2], dtype=torch.float64)
        before = torch.stack([at.sin(), at.cos()])
        after = torch.stack([(at + delta * w).sin(), (at + delta * w).cos()])
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = after @ before.inverse()
    return M.float()


# %% wrong: the usual rotation matrix, which turns back instead of on
def shift_matrix(delta, d_model):
    blocks = []
    for i in range(d_model // 2):
        a = delta * 10000 ** (-2 * i / d_model)
        blocks.append(torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]))
    return torch.block_diag(*blocks)


# %% wrong: pairs of halves as in RoPE
def shift_matrix(delta, d_model):
    angle = delta * 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    c, s = torch.diag(angle.cos()), torch.diag(angle.sin())
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)])


# %% wrong: every pair turns by delta radians, the frequencies are forgotten
def shift_matrix(delta, d_model):
    c, s = math.cos(delta), math.sin(delta)
    return torch.block_diag(*[torch.tensor([[c, s], [-s, c]])] * (d_model // 2))


# %% wrong: exponent i/d for 2i/d
def shift_matrix(delta, d_model):
    M = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        a = delta * 10000 ** (-i / d_model)
        j = 2 * i
        M[j, j] = M[j + 1, j + 1] = math.cos(a)
        M[j, j + 1], M[j + 1, j] = math.sin(a), -math.sin(a)
    return M
