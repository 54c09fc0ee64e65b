# %% setup
import math

import torch
import torch.nn.functional as F

# %% wrong: erf of x without the root of 2
def gelu(x, by_tanh):
    if by_tanh:
        return 0.5 * x * (1 + torch.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + torch.erf(x))

# %% wrong: takes erf itself for the share below
def gelu(x, by_tanh):
    if by_tanh:
        return 0.5 * x * (1 + torch.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)))
    return x * torch.erf(x / 2**0.5)

# %% two mistakes: erf of x without the root of 2, and the cube is missing in the other form
def gelu(x, by_tanh):
    if by_tanh:
        return 0.5 * x * (1 + torch.tanh((2 / math.pi) ** 0.5 * x))
    return 0.5 * x * (1 + torch.erf(x))

# %% right: the share below by the complementary error function, the approximation by exponentials
def gelu(x, by_tanh):
    if not by_tanh:
        return x * torch.erfc(-x / math.sqrt(2)) / 2
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))
    return x / (1 + torch.exp(-2 * u))

# %% right: one share chosen by a conditional expression
def gelu(x, by_tanh):
    z = math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x) if by_tanh else x / math.sqrt(2)
    between = torch.tanh(z) if by_tanh else torch.erf(z)
    return torch.lerp(torch.zeros_like(x), x, (between + 1) / 2)

# %% setup
import math
import torch

# %% wrong: the exact form always, by_tanh is not looked at
def gelu(x, by_tanh):
    return 0.5 * x * (1 + torch.erf(x * 2**-0.5))

# %% right: erfc, and the logistic function in the place of tanh
def gelu(x, by_tanh):
    if by_tanh:
        return x * torch.sigmoid(x * (8 / math.pi) ** 0.5 * (1 + 0.044715 * x.square()))
    return x * torch.erfc(-x / 2**0.5) / 2
