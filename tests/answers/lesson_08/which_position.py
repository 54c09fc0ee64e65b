# %% setup
import math

import torch

# %% wrong: layout with all sines in the first half of the columns and all cosines in the second
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2) / d)
    angles = torch.arange(num_positions)[:, None] * freq
    table = torch.cat([angles.sin(), angles.cos()], dim=-1)
    return (vectors @ table.T).argmax(dim=-1)

# %% wrong: column 2i is taken for the cosine and column 2i + 1 for the sine
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2) / d)
    angles = torch.arange(num_positions)[:, None] * freq
    table = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)
    return (vectors @ table.T).argmax(dim=-1)

# %% wrong: reads the slowest hand alone, its angle divided by its frequency and rounded
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    w = 10000.0 ** (-(d - 2) / d)
    angle = torch.atan2(vectors[:, -2], vectors[:, -1])
    return (angle / w).round().long().clamp(0, num_positions - 1)

# %% wrong: compares only the first pair, the fastest hand, with the table
def which_position(vectors, num_positions):
    pos = torch.arange(num_positions)
    table = torch.stack([torch.sin(pos), torch.cos(pos)], dim=-1)
    return torch.cdist(vectors[:, :2], table).argmin(dim=-1)

# %% wrong: counts the frequencies with i / d_model instead of 2i / d_model in the exponent
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    i = torch.arange(d // 2)
    freq = 10000.0 ** (-i / d)
    angles = torch.arange(num_positions)[:, None] * freq
    table = torch.zeros(num_positions, d)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return torch.cdist(vectors, table).argmin(-1)

# %% wrong: compares the sine columns only
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2) / d)
    sines = (torch.arange(num_positions)[:, None] * freq).sin()
    return torch.cdist(vectors[:, 0::2], sines).argmin(dim=1)

# %% wrong: the position that is farthest, argmax of the distances
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2) / d)
    angles = torch.arange(num_positions)[:, None] * freq
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return torch.cdist(vectors, table).argmax(dim=-1)

# %% wrong: positions counted from 1, so each answer is one too low
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2) / d)
    angles = torch.arange(1, num_positions + 1)[:, None] * freq
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return (vectors @ table.T).argmax(dim=-1)

# %% wrong: the best vector for each position, an argmax over the wrong axis
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2) / d)
    angles = torch.arange(num_positions)[:, None] * freq
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return (vectors @ table.T).argmax(dim=0)

# %% wrong: the first position all of whose entries are within 0.2, which lets earlier positions in
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2) / d)
    angles = torch.arange(num_positions)[:, None] * freq
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    off = (vectors[:, None] - table).abs().amax(-1)
    return (off < 0.2).long().argmax(dim=-1)

# %% wrong: forgets the absolute value, so it takes the position with the lowest sum of signed differences
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2) / d)
    angles = torch.arange(num_positions)[:, None] * freq
    table = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return (vectors[:, None] - table[None]).sum(-1).argmin(-1)

# %% wrong: the angle of the fastest hand, which never gets beyond one round
def which_position(vectors, num_positions):
    angle = torch.atan2(vectors[:, 0], vectors[:, 1])
    angle = torch.where(angle < 0, angle + 2 * math.pi, angle)
    return angle.round().long()

# %% two mistakes: sines and cosines in halves instead of by turns; and positions counted from 1
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    freq = 10000.0 ** (-torch.arange(0, d, 2) / d)
    angles = torch.arange(1, num_positions + 1)[:, None] * freq
    table = torch.cat([angles.sin(), angles.cos()], dim=-1)
    return (vectors @ table.T).argmax(dim=-1)

# %% two mistakes: the exponent is i / d_model instead of 2i / d_model; and sine and cosine are swapped
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    freq = 10000.0 ** (-torch.arange(d // 2) / d)
    angles = torch.arange(num_positions)[:, None] * freq
    table = torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)
    return (vectors @ table.T).argmax(dim=-1)

# %% right: complex numbers, the real part of a product with the conjugate
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    hands = torch.view_as_complex(vectors.to(torch.float64).flip(-1).reshape(len(vectors), d // 2, 2)).flip(-1)
    freq = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = torch.arange(num_positions, dtype=torch.float64)[:, None] * freq
    exact = torch.polar(torch.ones_like(angle), angle)
    return (hands @ exact.conj().T).real.argmax(-1)

# %% right: plain Python, one vector at a time, with the smallest greatest deviation
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    rows = []
    for p in range(num_positions):
        row = []
        for i in range(d // 2):
            t = p * 10000 ** (-2 * i / d)
            row += [math.sin(t), math.cos(t)]
        rows.append(row)
    found = []
    for v in vectors.tolist():
        off = [max(abs(a - b) for a, b in zip(v, row)) for row in rows]
        found.append(off.index(min(off)))
    return torch.tensor(found, dtype=torch.int64)

# %% right: compares angles, the summed squares of what is left after whole turns
def which_position(vectors, num_positions):
    d = vectors.shape[-1]
    read = torch.atan2(vectors[:, 0::2], vectors[:, 1::2]).double()
    freq = 10000.0 ** (-torch.arange(0, d, 2).double() / d)
    exact = torch.arange(num_positions).double()[:, None] * freq
    off = read[:, None, :] - exact[None]
    off = torch.remainder(off + math.pi, 2 * math.pi) - math.pi
    return (off ** 2).sum(-1).argmin(-1)
