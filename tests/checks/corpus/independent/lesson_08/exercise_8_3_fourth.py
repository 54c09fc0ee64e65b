# %% setup
import math

import torch


# %% right: the page's loop for one vector, stacked over tokens, heads and batch
def rope(x, positions, base):
    def one(vector, pos):
        half, turned = len(vector) // 2, torch.zeros_like(vector)
        for i in range(half):
            angle = pos * base ** (-2 * i / len(vector))
            cos, sin = math.cos(angle), math.sin(angle)
            turned[i] = vector[i] * cos - vector[i + half] * sin
            turned[i + half] = vector[i] * sin + vector[i + half] * cos
        return turned

    return torch.stack(
        [
            torch.stack([torch.stack([one(v, p) for v, p in zip(head, positions.tolist())]) for head in item])
            for item in x
        ]
    )


# %% right: rotate_half, cosines and sines doubled
def rope(x, positions, base):
    d = x.shape[-1]
    inv_freq = 1.0 / base ** (torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = torch.outer(positions.double(), inv_freq)
    angle = torch.cat([angle, angle], dim=-1)
    rotated = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], dim=-1)
    return x * angle.cos().to(x.dtype) + rotated * angle.sin().to(x.dtype)


# %% right: by a tensor of rotation matrices
def rope(x, positions, base):
    B, H, L, d = x.shape
    w = torch.tensor([float(base) ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
    a = positions.to(torch.float64)[:, None] * w
    R = torch.stack([a.cos(), -a.sin(), a.sin(), a.cos()], -1).view(L, d // 2, 2, 2).to(x.dtype)
    pairs = x.reshape(B, H, L, 2, d // 2)
    return torch.einsum("lirc,bhlci->bhlri", R, pairs).reshape(B, H, L, d)


# %% wrong: pairs of neighbors
def rope(x, positions, base):
    d = x.shape[-1]
    w = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    a = positions[:, None] * w
    cos, sin = a.cos().to(x.dtype), a.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


# %% wrong: the argument positions is ignored, tokens are counted from 0
def rope(x, positions, base):
    d, L = x.shape[-1], x.shape[-2]
    w = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    a = torch.arange(L)[:, None] * w
    cos, sin = a.cos().to(x.dtype), a.sin().to(x.dtype)
    p, q = x.chunk(2, -1)
    return torch.cat([p * cos - q * sin, p * sin + q * cos], -1)


# %% wrong: rotate_half without the minus, a reflection
def rope(x, positions, base):
    d = x.shape[-1]
    w = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    a = (positions[:, None] * w).repeat(1, 2)
    return x * a.cos().to(x.dtype) + x.roll(d // 2, -1) * a.sin().to(x.dtype)


# %% wrong: cosines and sines repeated element by element although pairs are halves
def rope(x, positions, base):
    d = x.shape[-1]
    w = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    a = (positions[:, None] * w).repeat_interleave(2, -1)
    rotated = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1)
    return x * a.cos().to(x.dtype) + rotated * a.sin().to(x.dtype)


# %% wrong: angles in float32 for the float64 case
def rope(x, positions, base):
    d = x.shape[-1]
    w = base ** (-torch.arange(0, d, 2) / d)
    a = positions[:, None] * w
    p, q = x.chunk(2, -1)
    return torch.cat([p * a.cos() - q * a.sin(), p * a.sin() + q * a.cos()], -1).to(x.dtype)
