# %% setup
import math

import torch

# %% right: the share between -|x| and |x|, put on the side of the sign, and the tanh form as a sigmoid
def gelu(x, by_tanh):
    if by_tanh:
        return x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    middle = torch.erf(x.abs() / math.sqrt(2))
    return x * (0.5 + 0.5 * torch.sign(x) * middle)

# %% wrong: half the share between plus one half for every x, so the left side gets the right side's share
def gelu(x, by_tanh):
    if by_tanh:
        return x * 0.5 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    return x * (0.5 + 0.5 * torch.erf(x.abs() / 2**0.5))

# %% wrong: multiplies by the root of 2 where it divides
def gelu(x, by_tanh):
    if by_tanh:
        return x * 0.5 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    return x * 0.5 * (1 + torch.erf(x * 2**0.5))

# %% wrong: returns the share itself, without x in front
def gelu(x, by_tanh):
    if by_tanh:
        return 0.5 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    return 0.5 * (1 + torch.erf(x / 2**0.5))

# %% wrong: 2 / pi without its root
def gelu(x, by_tanh):
    if by_tanh:
        return x * 0.5 * (1 + torch.tanh(2 / torch.pi * (x + 0.044715 * x**3)))
    return x * 0.5 * (1 + torch.erf(x / 2**0.5))

# %% wrong: the bracket closes too early, so the cube is not multiplied by the root
def gelu(x, by_tanh):
    if by_tanh:
        return x * 0.5 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * x + 0.044715 * x**3))
    return x * 0.5 * (1 + torch.erf(x / 2**0.5))

# %% wrong: one half stands only in front of erf, so the share runs from 1/2 to 3/2
def gelu(x, by_tanh):
    if by_tanh:
        return x * 0.5 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    return x * (1 + 0.5 * torch.erf(x / 2**0.5))
