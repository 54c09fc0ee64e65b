# %% setup
import torch

# %% wrong: takes the delta-th power of the matrix for one step, which is a Python error for a fraction
def shift_matrix(delta, d_model):
    blocks = []
    for i in range(d_model // 2):
        w = torch.tensor(10000.0 ** (-2 * i / d_model), dtype=torch.float64)
        blocks.append(torch.stack([torch.stack([w.cos(), w.sin()]), torch.stack([-w.sin(), w.cos()])]))
    one_step = torch.block_diag(*blocks)
    return torch.linalg.matrix_power(one_step, delta).float()

# %% wrong: arranges the matrix for a table with all sines left and all cosines right instead of alternating columns
def shift_matrix(delta, d_model):
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    c, s = torch.diag((delta * omega).cos()), torch.diag((delta * omega).sin())
    return torch.cat([torch.cat([c, s], dim=1), torch.cat([-s, c], dim=1)], dim=0)

# %% wrong: turns every pair with the frequency of pair 0, which is right only for d_model 2
def shift_matrix(delta, d_model):
    angle = torch.tensor(float(delta))
    block = torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()]).view(2, 2)
    return torch.block_diag(*[block] * (d_model // 2))

# %% two mistakes: uses the exponent -i / d_model instead of -2 i / d_model; and takes the absolute value of delta, so a negative shift goes forward
def shift_matrix(delta, d_model):
    blocks = []
    for i in range(d_model // 2):
        angle = torch.tensor(abs(delta) * 10000.0 ** (-i / d_model))
        c, s = angle.cos().item(), angle.sin().item()
        blocks.append(torch.tensor([[c, s], [-s, c]]))
    return torch.block_diag(*blocks)

# %% wrong: fits the matrix to the first three rows of the table by least squares, fewer than it has columns
def shift_matrix(delta, d_model):
    n = 3
    f = 10000 ** (-torch.arange(0, d_model, 2).double() / d_model)
    b = torch.arange(n).double()[:, None] * f
    a = (torch.arange(n).double() + delta)[:, None] * f
    t = torch.stack([b.sin(), b.cos()], -1).flatten(1)
    u = torch.stack([a.sin(), a.cos()], -1).flatten(1)
    return torch.linalg.lstsq(t, u, driver="gelsd").solution.T.float()

# %% right: fills a four-axis tensor (pair, part, pair, part) with an einsum over an identity
def shift_matrix(delta, d_model):
    import math

    pairs = d_model // 2
    angles = [delta * 10000.0 ** (-2 * i / d_model) for i in range(pairs)]
    turns = torch.tensor([[[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]] for a in angles])
    return torch.einsum("irs,ij->irjs", turns, torch.eye(pairs)).reshape(d_model, d_model)

# %% setup
import math

import torch


def sinusoidal_table(num_positions, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    angles = torch.arange(num_positions)[:, None] * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

# %% wrong: divides the exponent by the number of pairs instead of by d_model (10000 ** (-2i / (d_model / 2))), right for d_model 2
def shift_matrix(delta, d_model):
    num_pairs = d_model // 2
    blocks = []
    for i in range(num_pairs):
        a = torch.tensor(delta * 10000 ** (-2 * i / num_pairs))
        blocks.append(torch.stack([torch.stack([a.cos(), a.sin()]), torch.stack([-a.sin(), a.cos()])]))
    return torch.block_diag(*blocks).float()

# %% right: one einsum of pair selectors with the cosines times the identity plus the sines times the quarter turn
def shift_matrix(delta, d_model):
    angles = delta * torch.pow(10000.0, torch.arange(d_model // 2) * (-2 / d_model))
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    blocks = torch.cos(angles)[:, None, None] * torch.eye(2) + torch.sin(angles)[:, None, None] * turn
    place = torch.eye(d_model).view(d_model, d_model // 2, 2)
    return torch.einsum("api,pij,bpj->ab", place, blocks, place)

# %% setup
import math

import torch

# %% right: the exponential of a generator
def shift_matrix(delta, d_model):
    G = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        G[i, i + 1] = delta * 10000.0 ** (-i / d_model)
        G[i + 1, i] = -G[i, i + 1]
    return torch.matrix_exp(G).float()

# %% setup
import math
import torch


def sinusoidal_table(num_positions, d_model):
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(num_positions)[:, None] * omega
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)

# %% wrong: solves for the matrix from a table of 8 rows, which fits those rows only
def shift_matrix(delta, d_model):
    table = sinusoidal_table(8 + abs(int(delta)), d_model)
    here, there = table[:8], table[abs(int(delta)):][:8]
    M = torch.linalg.lstsq(here, there).solution.T
    return M if delta >= 0 else M.T
