# %% setup
import torch

# %% wrong: uses 2^(-8 h / H) for every number of heads, also when it is not a power of two
def alibi_slopes(num_heads):
    h = torch.arange(1, num_heads + 1)
    return 2.0 ** (-8 * h / num_heads)


# %% wrong: takes the missing slopes from the second one of the higher power of two on instead of from its first
def alibi_slopes(num_heads):
    def powers(H):
        return [2.0 ** (-8 * h / H) for h in range(1, H + 1)]

    lower = 1
    while lower * 2 <= num_heads:
        lower *= 2
    missing = num_heads - lower
    return torch.tensor(powers(lower) + powers(2 * lower)[1::2][:missing])


# %% wrong: takes the missing slopes one after the other from the higher power of two, not every second one
def alibi_slopes(num_heads):
    lower = 2 ** (num_heads.bit_length() - 1)
    first = [2.0 ** (-8 * h / lower) for h in range(1, lower + 1)]
    second = [2.0 ** (-8 * h / (2 * lower)) for h in range(1, 2 * lower + 1)]
    return torch.tensor(first + second[: num_heads - lower])


# %% wrong: takes every even number for a power of two, so 6, 10 or 12 heads get the plain formula
def alibi_slopes(num_heads):
    def powers(H):
        return 2.0 ** (-8.0 / H * torch.arange(1, H + 1))

    if num_heads == 1 or num_heads % 2 == 0:
        return powers(num_heads)
    lower = 2 ** (num_heads.bit_length() - 1)
    return torch.cat([powers(lower), powers(2 * lower)[::2][: num_heads - lower]])


# %% wrong: sorts the slopes from steep to flat, so for numbers that are not a power of two the order is wrong
def alibi_slopes(num_heads):
    import math

    lower = 2 ** math.floor(math.log2(num_heads))
    slopes = [2.0 ** (-8 * h / lower) for h in range(1, lower + 1)]
    slopes += [2.0 ** (-8 * h / (2 * lower)) for h in range(1, 2 * lower, 2)][: num_heads - lower]
    return torch.tensor(sorted(slopes, reverse=True))


# %% wrong: takes the nearest power of two (rounded logarithm) instead of the next lower one, so numbers just below a power of two get wrong slopes
def alibi_slopes(num_heads):
    import math

    lower = 2 ** round(math.log2(num_heads))
    slopes = [2.0 ** (-8 * h / lower) for h in range(1, lower + 1)]
    extra = [2.0 ** (-8 * h / (2 * lower)) for h in range(1, 2 * lower + 1)][::2]
    return torch.tensor((slopes + extra)[:num_heads])


# %% two mistakes: counts h from 0, so the first slope is 1; and returns a Python list instead of a tensor
def alibi_slopes(num_heads):
    lower = 1
    while lower * 2 <= num_heads:
        lower *= 2
    slopes = [2.0 ** (-8 * h / lower) for h in range(lower)]
    slopes += [2.0 ** (-8 * h / (2 * lower)) for h in range(0, 2 * lower, 2)][: num_heads - lower]
    return slopes


# %% right: recursion as in the code of the ALiBi paper
def alibi_slopes(num_heads):
    import math

    def slopes(n):
        if math.log2(n).is_integer():
            start = 2 ** (-(2 ** -(math.log2(n) - 3)))
            return [start * start**i for i in range(n)]
        closest = 2 ** math.floor(math.log2(n))
        return slopes(closest) + slopes(2 * closest)[0::2][: n - closest]

    return torch.tensor(slopes(num_heads), dtype=torch.float32)


# %% right: writes down only the exponents and raises 2 to all of them at the end with exp2
def alibi_slopes(num_heads):
    lower = 1 << (num_heads.bit_length() - 1)
    exponents = torch.zeros(num_heads, dtype=torch.float64)
    for index in range(num_heads):
        if index < lower:
            exponents[index] = 8 * (index + 1) / lower
        else:
            exponents[index] = 4 * (2 * (index - lower) + 1) / lower
    return torch.exp2(-exponents).float()


# %% right: a cumulative product of equal factors, and the extra ones as the in-between geometric means
def alibi_slopes(num_heads):
    lower = 1
    while 2 * lower <= num_heads:
        lower *= 2
    ratio = 2.0 ** (-8.0 / lower)
    low = torch.full((lower,), ratio, dtype=torch.float64).cumprod(0)
    extra = low / ratio**0.5  # half a step earlier each
    return torch.cat((low, extra))[:num_heads].to(torch.float32)


# %% wrong: named in the review: counts the heads from 0
def alibi_slopes(num_heads):
    def plain(n):
        return [2 ** (-8 * h / n) for h in range(n)]

    lower = 2 ** (num_heads.bit_length() - 1)
    return torch.tensor(plain(lower) + plain(2 * lower)[0::2][: num_heads - lower])


# %% wrong: named in the review: fills up with the slopes of the lower power of two once more
def alibi_slopes(num_heads):
    lower = 2 ** (num_heads.bit_length() - 1)
    slopes = [2 ** (-8 * h / lower) for h in range(1, lower + 1)]
    return torch.tensor((slopes + slopes)[:num_heads])
