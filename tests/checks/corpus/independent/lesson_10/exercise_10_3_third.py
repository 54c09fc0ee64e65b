# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: takes the mean of each sequence first and then the mean over the sequences, so short sequences weigh too much
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    shares = torch.full_like(logits, smoothing / (V - 2))
    shares.scatter_(-1, labels.unsqueeze(-1), 1.0 - smoothing)
    shares[..., pad_id] = 0.0
    losses = -(shares * logits.log_softmax(dim=-1)).sum(dim=-1)
    real = (labels != pad_id).to(logits.dtype)
    per_sequence = (losses * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)
    return per_sequence.mean()


# %% wrong: also takes the padding symbol out of the softmax, so the other symbols share all of the probability
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    at_padding = torch.arange(V) == pad_id
    log_p = logits.masked_fill(at_padding, -1e9).log_softmax(dim=-1)
    shares = torch.full_like(logits, smoothing / (V - 2))
    shares.scatter_(-1, labels[..., None], 1 - smoothing)
    shares = shares.masked_fill(at_padding, 0.0)
    return -(shares * log_p).sum(dim=-1)[labels != pad_id].mean()


# %% wrong: keeps probabilities at 1e-9 or more before the logarithm, so with large logits the loss is cut off and no gradient flows
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    log_p = logits.softmax(dim=-1).clamp(min=1e-9).log()
    shares = torch.full_like(logits, smoothing / (V - 2))
    shares[..., pad_id] = 0.0
    shares.scatter_(-1, labels[..., None], 1 - smoothing)
    return -(shares * log_p).sum(dim=-1)[labels != pad_id].mean()


# %% wrong: gives the label its share of the smoothing on top of 1 - smoothing
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    keep = labels != pad_id
    log_p = logits[keep].log_softmax(dim=-1)
    one_hot = F.one_hot(labels[keep], V).to(logits.dtype)
    others = torch.full((V,), smoothing / (V - 2), dtype=logits.dtype)
    others[pad_id] = 0.0
    shares = (1 - smoothing) * one_hot + others
    return -(shares * log_p).sum(dim=-1).mean()


# %% right: works each real position out by itself, symbol by symbol, from logsumexp
def smoothed_loss(logits, labels, smoothing, pad_id):
    B, L_t, V = logits.shape
    losses = []
    for b in range(B):
        for t in range(L_t):
            y = int(labels[b, t])
            if y == pad_id:
                continue
            total = torch.logsumexp(logits[b, t], dim=0)
            loss = (1 - smoothing) * (total - logits[b, t, y])
            for v in range(V):
                if v not in (y, pad_id):
                    loss = loss + smoothing / (V - 2) * (total - logits[b, t, v])
            losses.append(loss)
    return torch.stack(losses).mean()


# %% right: hands the shares of the real positions to cross_entropy as class probabilities
def smoothed_loss(logits, labels, smoothing, pad_id):
    V = logits.shape[-1]
    table = torch.eye(V, dtype=logits.dtype) * (1 - smoothing)
    table = table + (1 - torch.eye(V, dtype=logits.dtype)) * (smoothing / (V - 2))
    table[:, pad_id] = 0.0  # (V, V): row y holds the shares for the label y
    keep = labels.ne(pad_id).flatten().nonzero().squeeze(1)
    return F.cross_entropy(logits.flatten(0, 1).index_select(0, keep), table[labels.flatten()[keep]])
