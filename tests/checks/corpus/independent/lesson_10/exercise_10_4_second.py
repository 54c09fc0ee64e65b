# %% setup
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils.datasets.tasks import copy_task
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions

torch.set_num_threads(1)


def batch_masks(source, target, pad_id):
    L = target.shape[1]
    causal = torch.ones(L, L, dtype=torch.bool).tril()
    return (source != pad_id)[:, None, None, :], (target != pad_id)[:, None, None, :] & causal

# %% wrong: takes the updates made so far as the number of the next update (only 0 is lifted to 1), so the schedule is one step late
def warmup_rate(done, d_model, warmup):
    s = max(done, 1)
    return d_model ** -0.5 * min(s ** -0.5, s * warmup ** -1.5)

# %% wrong: stays at the peak rate after the warm-up instead of falling with the root of the step
def warmup_rate(done, d_model, warmup):
    s = min(done + 1, warmup)
    return d_model ** -0.5 * s * warmup ** -1.5

# %% wrong: the warm-up term is s / w instead of s * w ** -1.5, so it is right only for warmup 1 or long after the warm-up
def warmup_rate(done, d_model, warmup):
    s = done + 1
    return d_model ** -0.5 * min(s ** -0.5, s / warmup)

# %% wrong: the factor of d_model is the square root instead of one over the square root
def warmup_rate(done, d_model, warmup):
    step = done + 1
    return math.sqrt(d_model) * min(1 / math.sqrt(step), step / (warmup * math.sqrt(warmup)))

# %% two mistakes: takes the larger of the two terms instead of the smaller; and leaves out the factor of d_model
def warmup_rate(done, d_model, warmup):
    s = done + 1
    return max(s ** -0.5, s * warmup ** -1.5)

# %% right: two branches instead of a minimum
def warmup_rate(done, d_model, warmup):
    s = done + 1
    if s < warmup:
        return s / (warmup * math.sqrt(warmup * d_model))
    return 1 / math.sqrt(s * d_model)

# %% right: computed in logarithms
def warmup_rate(done, d_model, warmup):
    log_s, log_w = math.log(done + 1), math.log(warmup)
    return math.exp(min(-0.5 * log_s, log_s - 1.5 * log_w) - 0.5 * math.log(d_model))
