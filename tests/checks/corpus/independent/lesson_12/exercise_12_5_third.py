# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: gets each batch's sum back from its mean, which is not a number for a batch of padding alone
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        real = (labels != pad_id).sum().item()
        mean = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
        total += mean.item() * real
        count += real
    return math.exp(total / count)


# %% wrong: adds up the losses of the real labels but divides by the number of all positions, padding included
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        total += F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id, reduction="sum").item()
        count += labels.numel()
    return math.exp(total / count)


# %% wrong: multiplies the probabilities of all tokens and takes the root, which comes to 0 once there are some hundred tokens
def perplexity(batches, pad_id):
    product, count = 1.0, 0
    for logits, labels in batches:
        p = logits.softmax(dim=-1).gather(-1, labels[..., None]).squeeze(-1)
        for value in p[labels != pad_id].tolist():
            product *= value
            count += 1
    return product ** (-1 / count) if product > 0 else math.inf


# %% wrong: takes the padding symbol out of the softmax too, so the other symbols share its probability
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        log_p = logits.masked_fill(torch.arange(logits.shape[-1]) == pad_id, -1e9).log_softmax(dim=-1)
        losses = -log_p.gather(-1, labels[..., None]).squeeze(-1)
        keep = labels != pad_id
        total += losses[keep].sum().item()
        count += int(keep.sum())
    return math.exp(total / count)


# %% right: collects the real tokens of all batches into one long list and takes a single mean
def perplexity(batches, pad_id):
    logits = torch.cat([scores[labels != pad_id] for scores, labels in batches])  # (N, V)
    labels = torch.cat([labels[labels != pad_id] for _, labels in batches])  # (N,)
    losses = logits.logsumexp(dim=-1) - logits.gather(1, labels.unsqueeze(1)).squeeze(1)
    return losses.mean().exp().item()


# %% right: goes token by token in Python with a running mean that each token moves a little
def perplexity(batches, pad_id):
    mean, count = 0.0, 0
    for logits, labels in batches:
        for scores, label in zip(logits.flatten(0, 1).tolist(), labels.flatten().tolist(), strict=True):
            if label == pad_id:
                continue
            largest = max(scores)
            loss = largest + math.log(math.fsum(math.exp(s - largest) for s in scores)) - scores[label]
            count += 1
            mean += (loss - mean) / count
    return math.exp(mean)
