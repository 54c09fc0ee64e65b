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

# %% wrong: uses cross_entropy's own label_smoothing, which spreads smoothing / V over all symbols, the label and the padding too
def smoothed_loss(logits, labels, smoothing, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, label_smoothing=smoothing)

# %% wrong: the padding symbol keeps its share smoothing / (V - 2), it is never set to 0
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = logits.log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / (V - 2))
    q.scatter_(-1, labels.unsqueeze(-1), 1 - smoothing)
    losses = -(q * log_p).sum(dim=-1)
    return losses[labels != pad_id].mean()

# %% two mistakes: the label keeps its whole 1 and the shares of the others come on top of it, the 1 - smoothing is forgotten; and the losses are added up, not divided by their number
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = logits.log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / (V - 2))
    q[..., pad_id] = 0.0
    q.scatter_(-1, labels.unsqueeze(-1), 1.0)
    losses = -(q * log_p).sum(dim=-1)
    return losses[labels != pad_id].sum()

# %% right: picks the real positions first and gives cross_entropy the distributions as its targets
def smoothed_loss(logits, labels, smoothing, pad_id):
    keep = labels != pad_id
    logits, labels = logits[keep], labels[keep]  # (N, V), (N,)
    V = logits.shape[-1]
    one_hot = F.one_hot(labels, V).to(logits.dtype)
    padding = F.one_hot(torch.tensor(pad_id), V).to(logits.dtype)
    q = (1 - smoothing) * one_hot + smoothing / max(V - 2, 1) * (1 - one_hot - padding)
    return F.cross_entropy(logits, q)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: also takes the padding symbol out of the softmax, so the other symbols share all of the probability
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    at_padding = torch.arange(V) == pad_id
    log_p = logits.masked_fill(at_padding, -1e9).log_softmax(dim=-1)
    shares = torch.full_like(logits, smoothing / (V - 2))
    shares.scatter_(-1, labels[..., None], 1 - smoothing)
    shares = shares.masked_fill(at_padding, 0.0)
    return -(shares * log_p).sum(dim=-1)[labels != pad_id].mean()

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: PyTorch's label smoothing, which shares among all V symbols
def smoothed_loss(logits, labels, smoothing, pad_id):
    return F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id, label_smoothing=smoothing)

# %% right: starts from one-hot labels; only real positions are kept from the first line on
def smoothed_loss(logits, labels, smoothing, pad_id):
    real = labels.ne(pad_id)
    z, y = logits[real], labels[real]
    V = z.size(-1)
    one = F.one_hot(y, V)
    rest = 1 - one
    rest[:, pad_id] = 0
    q = (1 - smoothing) * one + smoothing / (V - 2) * rest
    return (q * (z.logsumexp(-1, keepdim=True) - z)).sum() / len(y)

# %% right: cross_entropy of the label and mean of the others, put together
def smoothed_loss(logits, labels, smoothing, pad_id):
    V, real = logits.shape[-1], labels.ne(pad_id)
    rows, y = logits[real], labels[real]
    log_p = rows - rows.logsumexp(-1, keepdim=True)
    other = torch.ones_like(rows, dtype=torch.bool)
    other[:, pad_id] = False
    other[torch.arange(len(y)), y] = False
    rest = log_p.masked_fill(~other, 0).sum(-1) / (V - 2)
    return F.cross_entropy(rows, y) * (1 - smoothing) - smoothing * rest.mean()
