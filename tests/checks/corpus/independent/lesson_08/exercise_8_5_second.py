# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: uses the power-of-two formula for every number of heads
def alibi_slopes(num_heads):
    h = torch.arange(1, num_heads + 1, dtype=torch.float32)
    return 2.0 ** (-8.0 * h / num_heads)


# %% wrong: takes every even number for a power of two, so 6, 10, 12 get the plain formula
def alibi_slopes(num_heads):
    def plain(n):
        return [2.0 ** (-8.0 * h / n) for h in range(1, n + 1)]

    if num_heads == 1 or num_heads % 2 == 0:
        return torch.tensor(plain(num_heads))
    low = 1
    while low * 2 < num_heads:
        low *= 2
    return torch.tensor(plain(low) + plain(2 * low)[0::2][: num_heads - low])


# %% wrong: takes the missing slopes from the first ones of the higher power in a row instead of every second one; the same only if at most one is missing
def alibi_slopes(num_heads):
    low = 2 ** (num_heads.bit_length() - 1)
    slopes = [2.0 ** (-8.0 * h / low) for h in range(1, low + 1)]
    missing = num_heads - low
    slopes += [2.0 ** (-8.0 * h / (2 * low)) for h in range(1, missing + 1)]
    return torch.tensor(slopes, dtype=torch.float32)


# %% wrong: sorts the slopes from large to small, so the order is wrong if the number is not a power of two
def alibi_slopes(num_heads):
    import math
    low = 2 ** int(math.floor(math.log2(num_heads)))
    first = [2.0 ** (-8 * h / low) for h in range(1, low + 1)]
    second = [2.0 ** (-8 * h / (2 * low)) for h in range(1, 2 * low + 1)][::2]
    slopes = first + second[: num_heads - low]
    return torch.tensor(sorted(slopes, reverse=True), dtype=torch.float32)


# %% right: recursion that calls itself for both powers of two
def alibi_slopes(num_heads):
    if num_heads & (num_heads - 1) == 0:
        return torch.pow(2.0, torch.arange(1, num_heads + 1, dtype=torch.float32) * (-8.0 / num_heads))
    low = 1 << (num_heads.bit_length() - 1)
    return torch.cat([alibi_slopes(low), alibi_slopes(2 * low)[::2][: num_heads - low]])


# %% right: one formula for all heads, exponents computed from the index with where
def alibi_slopes(num_heads):
    low = 1
    while low * 2 <= num_heads:
        low *= 2
    index = torch.arange(num_heads, dtype=torch.float64)
    exponent = torch.where(index < low, 8 * (index + 1) / low, 8 * (2 * (index - low) + 1) / (2 * low))
    return torch.exp2(-exponent).float()
