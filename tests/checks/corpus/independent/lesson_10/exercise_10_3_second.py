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

# %% wrong: takes the log of the softmax, which is minus infinity or nan for logits as large as 500
def smoothed_loss(logits, labels, smoothing, pad_id):
    logp = torch.softmax(logits, dim=-1).log()
    V = logits.shape[-1]
    q = torch.full_like(logits, smoothing / (V - 2))
    q.scatter_(-1, labels[..., None], 1 - smoothing)
    q[..., pad_id] = 0
    keep = labels != pad_id
    return -(q * logp).sum(-1)[keep].mean()

# %% wrong: takes the mean of each sequence first and then the mean over the sequences, so sequences with few symbols weigh too much (rows of padding only are left out)
def smoothed_loss(logits, labels, smoothing, pad_id):
    logp = F.log_softmax(logits, dim=-1)
    V = logits.shape[-1]
    q = torch.full_like(logits, smoothing / (V - 2))
    q.scatter_(-1, labels[..., None], 1 - smoothing)
    q[..., pad_id] = 0
    keep = (labels != pad_id).to(logits.dtype)
    loss = -(q * logp).sum(-1) * keep
    n = keep.sum(1)
    rows = n > 0
    return (loss.sum(1)[rows] / n[rows]).mean()

# %% wrong: spreads the smoothing over all V - 1 other symbols, padding included
def smoothed_loss(logits, labels, smoothing, pad_id):
    logp = logits.log_softmax(-1)
    V = logits.shape[-1]
    q = torch.full_like(logits, smoothing / (V - 1)).scatter(-1, labels.unsqueeze(-1), 1 - smoothing)
    loss = -(q * logp).sum(-1)
    keep = labels != pad_id
    return loss[keep].sum() / keep.sum()

# %% wrong: gives the share 0 to symbol 0 instead of to pad_id, so it is right only if the padding is 0
def smoothed_loss(logits, labels, smoothing, pad_id):
    logp = F.log_softmax(logits, dim=-1)
    V = logits.shape[-1]
    q = torch.full_like(logits, smoothing / (V - 2))
    q[..., 0] = 0
    q.scatter_(-1, labels[..., None], 1 - smoothing)
    keep = labels != pad_id
    return -(q * logp).sum(-1)[keep].mean()

# %% right: combines nll and the sum of all log-probabilities without building q
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    flat, y = logits.reshape(-1, V), labels.reshape(-1)
    flat, y = flat[y != pad_id], y[y != pad_id]
    logp = flat - torch.logsumexp(flat, dim=-1, keepdim=True)
    own = logp.gather(1, y[:, None]).squeeze(1)
    others = logp.sum(1) - own - logp[:, pad_id]
    return -((1 - smoothing) * own + smoothing / (V - 2) * others).mean()

# %% right: hands q to cross_entropy as class probabilities for the positions that count
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    keep = labels != pad_id
    x, y = logits[keep], labels[keep]
    hot = F.one_hot(y, V).to(logits.dtype)
    free = torch.ones(V, dtype=logits.dtype)
    free[pad_id] = 0
    q = (1 - smoothing) * hot + smoothing / (V - 2) * (free - hot)
    return F.cross_entropy(x, q)
