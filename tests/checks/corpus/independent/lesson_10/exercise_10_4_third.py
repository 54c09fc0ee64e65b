# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: only protects against 0 and otherwise takes the updates made for the number of the next, so every rate but the first comes one update late
def warmup_rate(done, d_model, warmup):
    step = max(done, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


# %% wrong: asks whether the updates made are at most the warm-up, so update number warmup + 1 still rises
def warmup_rate(done, d_model, warmup):
    step = done + 1
    if done <= warmup:
        return d_model**-0.5 * step * warmup**-1.5
    return d_model**-0.5 * step**-0.5


# %% wrong: stays at the largest rate after the warm-up instead of falling
def warmup_rate(done, d_model, warmup):
    step = min(done + 1, warmup)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


# %% wrong: multiplies only the falling branch by the root of d_model, because the factor stands inside the minimum
def warmup_rate(done, d_model, warmup):
    step = done + 1
    return min(d_model**-0.5 * step**-0.5, step * warmup**-1.5)


# %% two mistakes: does not add 1 to the updates made but protects against 0; and takes the warm-up to the power -1/2 instead of -3/2
def warmup_rate(done, d_model, warmup):
    step = max(done, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


# %% right: takes the minimum of the logarithms
def warmup_rate(done, d_model, warmup):
    log_step, log_warmup = math.log(done + 1), math.log(warmup)
    return math.exp(min(-log_step / 2, log_step - 1.5 * log_warmup) - math.log(d_model) / 2)


# %% right: divides by the larger of two denominators
def warmup_rate(done, d_model, warmup):
    step = 1 + done
    falling = math.sqrt(d_model * step)
    rising = math.sqrt(d_model * warmup**3) / step
    return 1 / max(falling, rising)
