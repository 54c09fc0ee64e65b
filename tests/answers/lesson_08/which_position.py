# %% setup
import math

import torch

# %% wrong: the angle of the fastest hand, which never gets beyond one round
def which_position(vectors, num_positions):
    angle = torch.atan2(vectors[:, 0], vectors[:, 1])
    angle = torch.where(angle < 0, angle + 2 * math.pi, angle)
    return angle.round().long()

# %% wrong: the angle of the slowest hand, where an error of 0.05 is many positions
def which_position(vectors, num_positions):
    d_model = vectors.shape[1]
    slowest = 10000.0 ** (-(d_model - 2) / d_model)
    pos = torch.atan2(vectors[:, -2], vectors[:, -1]) / slowest
    return pos.round().clamp(0, num_positions - 1).long()

# %% wrong: compares with a table that has all sines in the left half and all cosines in the right half
def which_position(vectors, num_positions):
    d_model = vectors.shape[1]
    omega = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.outer(torch.arange(num_positions).float(), omega)
    table = torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)
    return torch.cdist(vectors, table).argmin(dim=1)

# %% two mistakes: the exponent i / d_model; and positions counted from 1
def which_position(vectors, num_positions):
    d_model = vectors.shape[1]
    omega = 10000.0 ** (-torch.arange(d_model // 2) / d_model)
    angles = torch.arange(num_positions)[:, None] * omega
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return (vectors[:, None] - table).square().sum(-1).argmin(dim=1) + 1

# %% right: a loop over all positions that keeps the smallest squared distance
def which_position(vectors, num_positions):
    d_model = vectors.shape[1]
    found = []
    rates = [10000 ** (-2 * i / d_model) for i in range(d_model // 2)]
    for v in vectors:
        best, place = math.inf, 0
        for pos in range(num_positions):
            row = torch.tensor([f(pos * r) for r in rates for f in (math.sin, math.cos)])
            off = float(((v - row) ** 2).sum())
            if off < best:
                best, place = off, pos
        found.append(place)
    return torch.tensor(found)

# %% right: complex numbers, the largest real part of the product with the conjugate
def which_position(vectors, num_positions):
    hands = torch.view_as_complex(vectors.unflatten(1, (-1, 2)).double())  # sine + i cosine
    d_model = vectors.shape[1]
    omega = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = torch.arange(num_positions, dtype=torch.float64)[:, None] * omega
    all_hands = torch.complex(angle.sin(), angle.cos())
    return (hands @ all_hands.conj().T).real.max(dim=1).indices
