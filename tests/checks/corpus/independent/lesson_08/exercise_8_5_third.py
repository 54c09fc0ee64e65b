# %% setup
import math

import torch


# %% wrong: treats every even number of heads as a power of two, so 6, 10 or 12 heads get the simple formula
def alibi_slopes(num_heads):
    def simple(n):
        return [2 ** (-8 * h / n) for h in range(1, n + 1)]

    if num_heads == 1 or num_heads % 2 == 0:
        return torch.tensor(simple(num_heads))
    lower = 1
    while lower * 2 <= num_heads:
        lower *= 2
    return torch.tensor(simple(lower) + simple(2 * lower)[0::2][: num_heads - lower])


# %% wrong: computes the exponent with whole-number division (8 * h // H), which rounds where the exponent is a fraction: with 16 heads or more, and with 9 to 15
def alibi_slopes(num_heads):
    def simple(n):
        return [0.5 ** (8 * h // n) for h in range(1, n + 1)]

    lower = 2 ** (num_heads.bit_length() - 1)
    slopes = simple(lower)
    if lower < num_heads:
        slopes += simple(2 * lower)[::2][: num_heads - lower]
    return torch.tensor(slopes)


# %% wrong: doubles while the power is strictly below num_heads / 2, so a power of two above 1 is built from the lower half and the odd slopes: the right numbers in the wrong order
def alibi_slopes(num_heads):
    def simple(n):
        return [2 ** (-8 * h / n) for h in range(1, n + 1)]

    lower = 1
    while lower * 2 < num_heads:
        lower *= 2
    return torch.tensor(simple(lower) + simple(lower * 2)[0::2][: num_heads - lower])


# %% wrong: rounds log2 to the nearest whole number instead of down, so for 3, 6, 7, 12 ... heads the base is the higher power of two, cut to num_heads
def alibi_slopes(num_heads):
    def simple(n):
        return [2 ** (-8 * h / n) for h in range(1, n + 1)]

    lower = 2 ** round(math.log2(num_heads))
    slopes = simple(lower)[:num_heads]
    missing = num_heads - len(slopes)
    return torch.tensor(slopes + simple(2 * lower)[0::2][:missing])


# %% right: one formula for all heads at once, with torch.where between the two kinds of exponent
def alibi_slopes(num_heads):
    lower = 1 << (num_heads.bit_length() - 1)
    k = torch.arange(num_heads, dtype=torch.float64)
    exponent = torch.where(k < lower, 8 * (k + 1) / lower, 4 * (2 * (k - lower) + 1) / lower)
    return torch.exp2(-exponent).float()


# %% right: geometric rows by cumprod in float64, largest power of two found by halving, the extra slopes picked by index
def alibi_slopes(num_heads):
    def row(n):
        return torch.full((n,), 2.0 ** (-8 / n), dtype=torch.float64).cumprod(0)

    exponent, rest = 0, num_heads
    while rest > 1:
        rest //= 2
        exponent += 1
    power = 2**exponent
    extra = row(2 * power).index_select(0, 2 * torch.arange(num_heads - power))
    return torch.cat((row(power), extra)).to(torch.float32)
