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


# %% wrong: the share of the other symbols is smoothing / (V - 1) instead of smoothing / (V - 2)
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = logits.log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / (V - 1))
    q[..., pad_id] = 0.0
    q.scatter_(-1, labels[..., None], 1 - smoothing)
    losses = -(q * log_p).sum(dim=-1)
    keep = labels != pad_id
    return losses[keep].mean()


# %% wrong: the mean is taken over all positions, the padded ones with loss 0 included
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = F.log_softmax(logits, dim=-1)
    q = torch.full_like(log_p, smoothing / (V - 2))
    q = q.scatter(-1, labels[..., None], 1 - smoothing)
    q[..., pad_id] = 0.0
    losses = -(q * log_p).sum(dim=-1)
    losses = losses * (labels != pad_id)
    return losses.mean()


# %% wrong: takes the logarithm of a softmax, which is minus infinity (or NaN) for large logits
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = torch.log(torch.softmax(logits, dim=-1))
    q = torch.full_like(logits, smoothing / (V - 2))
    q[..., pad_id] = 0.0
    q.scatter_(-1, labels[..., None], 1 - smoothing)
    keep = labels != pad_id
    return -(q * log_p).sum(dim=-1)[keep].mean()


# %% wrong: the loss is averaged within each sequence first and then over the sequences, so positions of short sequences weigh more
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = logits.log_softmax(-1)
    share = smoothing / (V - 2)
    own = log_p.gather(-1, labels[..., None]).squeeze(-1)
    others = log_p.sum(-1) - own - log_p[..., pad_id]
    losses = -((1 - smoothing) * own + share * others)
    keep = (labels != pad_id).to(losses.dtype)
    per_sequence = (losses * keep).sum(dim=1) / keep.sum(dim=1).clamp(min=1)
    return per_sequence.mean()


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


# %% right: no distribution is built: label, all and padding log-probabilities are combined in closed form
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = logits - logits.logsumexp(dim=-1, keepdim=True)
    own = log_p.gather(-1, labels[..., None])[..., 0]
    others = log_p.sum(-1) - own - log_p[..., pad_id]
    losses = -(1 - smoothing) * own - smoothing / max(V - 2, 1) * others
    keep = labels.ne(pad_id)
    return losses.masked_fill(~keep, 0.0).sum() / keep.sum()


# %% right: picks the real positions first and gives cross_entropy the distributions as its targets
def smoothed_loss(logits, labels, smoothing, pad_id):
    keep = labels != pad_id
    logits, labels = logits[keep], labels[keep]  # (N, V), (N,)
    V = logits.shape[-1]
    one_hot = F.one_hot(labels, V).to(logits.dtype)
    padding = F.one_hot(torch.tensor(pad_id), V).to(logits.dtype)
    q = (1 - smoothing) * one_hot + smoothing / max(V - 2, 1) * (1 - one_hot - padding)
    return F.cross_entropy(logits, q)


# %% right: a loop over all positions that adds the shares symbol by symbol
def smoothed_loss(logits, labels, smoothing, pad_id):
    B, L_t, V = logits.shape
    total, count = logits.new_zeros(()), 0
    for b in range(B):
        for t in range(L_t):
            y = int(labels[b, t])
            if y == pad_id:
                continue
            log_p = F.log_softmax(logits[b, t], dim=0)
            others = [v for v in range(V) if v not in (y, pad_id)]
            loss = -(1 - smoothing) * log_p[y]
            if others:
                loss = loss - smoothing / (V - 2) * log_p[others].sum()
            total, count = total + loss, count + 1
    return total / count


# %% wrong: named in the review: padding keeps its share, smoothing / (V - 2)
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = logits.log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / (V - 2))
    q.scatter_(-1, labels.unsqueeze(-1), 1 - smoothing)
    losses = -(q * log_p).sum(dim=-1)
    return losses[labels != pad_id].mean()


# %% wrong: named in the review: the rest has smoothing / (V - 1), and padding keeps it
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = logits.log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / (V - 1))
    q.scatter_(-1, labels.unsqueeze(-1), 1 - smoothing)
    losses = -(q * log_p).sum(dim=-1)
    return losses[labels != pad_id].mean()


# %% wrong: named in the review: every symbol but padding has smoothing / (V - 2), the label on top of its 1 - smoothing
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = logits.log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / (V - 2))
    q.scatter_(-1, labels.unsqueeze(-1), 1 - smoothing + smoothing / (V - 2))
    q[..., pad_id] = 0
    losses = -(q * log_p).sum(dim=-1)
    return losses[labels != pad_id].mean()


# %% wrong: named in the review: the label gets 1 - smoothing / (V - 2), one minus one share only
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = logits.log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / (V - 2))
    q.scatter_(-1, labels.unsqueeze(-1), 1 - smoothing / (V - 2))
    q[..., pad_id] = 0
    losses = -(q * log_p).sum(dim=-1)
    return losses[labels != pad_id].mean()
