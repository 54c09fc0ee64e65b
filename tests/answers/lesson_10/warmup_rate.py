# %% setup
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils.datasets.tasks import copy_task
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions

torch.set_num_threads(1)

# %% wrong: takes done itself as the number of the next update and raises ZeroDivisionError at 0
def warmup_rate(done, d_model, warmup):
    return d_model ** -0.5 * min(done ** -0.5, done * warmup ** -1.5)

# %% wrong: uses the number of updates made (at least 1) as the step, so every rate after the first is one update late
def warmup_rate(done, d_model, warmup):
    s = max(done, 1)
    return d_model ** -0.5 * min(s ** -0.5, s * warmup ** -1.5)

# %% two mistakes: the exponent of the warm-up is -1/2 instead of -3/2; and the step is counted from 2 (done + 2)
def warmup_rate(done, d_model, warmup):
    s = done + 2
    return d_model ** -0.5 * min(s ** -0.5, s * warmup ** -0.5)

# %% right: one fraction under one root, with math.sqrt
def warmup_rate(done, d_model, warmup):
    from math import sqrt

    s = done + 1
    return min(1 / sqrt(d_model * s), s / sqrt(d_model * warmup * warmup * warmup))

# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

# %% right: takes the minimum of the logarithms
def warmup_rate(done, d_model, warmup):
    log_step, log_warmup = math.log(done + 1), math.log(warmup)
    return math.exp(min(-log_step / 2, log_step - 1.5 * log_warmup) - math.log(d_model) / 2)

# %% setup
import math

# %% wrong: only the rising term counts from 1, the falling one from the updates made (kept off 0)
def warmup_rate(done, d_model, warmup):
    return d_model**-0.5 * min(max(done, 1) ** -0.5, (done + 1) * warmup**-1.5)

# %% right: the peak, times what is left of it
def warmup_rate(done, d_model, warmup):
    s = done + 1
    peak = 1 / math.sqrt(d_model * warmup)
    return peak * (s / warmup if s < warmup else math.sqrt(warmup / s))
