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


# %% wrong: takes the larger of the two terms instead of the smaller
def warmup_rate(done, d_model, warmup):
    s = done + 1
    return d_model ** -0.5 * max(s ** -0.5, s * warmup ** -1.5)


# %% wrong: multiplies by the root of d_model instead of dividing by it
def warmup_rate(done, d_model, warmup):
    s = done + 1
    return d_model ** 0.5 * min(s ** -0.5, s * warmup ** -1.5)


# %% wrong: counts its own calls and ignores done, so a second schedule or a repeated call goes on where the last one stopped
calls = 0


def warmup_rate(done, d_model, warmup):
    global calls
    calls += 1
    s = calls
    return d_model ** -0.5 * min(s ** -0.5, s * warmup ** -1.5)


# %% wrong: after the warm-up the decay counts its steps from the end of the warm-up and not from the start
def warmup_rate(done, d_model, warmup):
    s = done + 1
    if s <= warmup:
        return d_model ** -0.5 * s * warmup ** -1.5
    return d_model ** -0.5 * (s - warmup) ** -0.5


# %% two mistakes: the exponent of the warm-up is -1/2 instead of -3/2; and the step is counted from 2 (done + 2)
def warmup_rate(done, d_model, warmup):
    s = done + 2
    return d_model ** -0.5 * min(s ** -0.5, s * warmup ** -0.5)


# %% right: by cases instead of with min, with square roots
def warmup_rate(done, d_model, warmup):
    s = 1 + done
    peak = 1 / (d_model * warmup) ** 0.5
    if s < warmup:
        return peak * s / warmup
    return peak * (warmup / s) ** 0.5


# %% right: in logarithms, with exp at the end
def warmup_rate(done, d_model, warmup):
    import math

    log_s, log_w = math.log1p(done), math.log(warmup)
    return math.exp(-0.5 * math.log(d_model) + min(-0.5 * log_s, log_s - 1.5 * log_w))


# %% right: one fraction under one root, with math.sqrt
def warmup_rate(done, d_model, warmup):
    from math import sqrt

    s = done + 1
    return min(1 / sqrt(d_model * s), s / sqrt(d_model * warmup * warmup * warmup))
