# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% wrong: weighs the mean of each batch by all its positions, padding included, instead of by the positions that count
def perplexity(batches, pad_id):
    total = count = 0.0
    for logits, labels in batches:
        if (labels != pad_id).any():
            total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id).item() * labels.numel()
            count += labels.numel()
    return math.exp(total / count)

# %% wrong: a batch of nothing but padding makes the result nan, since its mean is 0 / 0 and is multiplied by its count 0
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        n = (labels != pad_id).sum().item()
        total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id).item() * n
        count += n
    return math.exp(total / count)

# %% wrong: takes exp for each batch and averages these by the number of tokens, instead of taking exp once at the end
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        keep = labels != pad_id
        n = int(keep.sum())
        if n:
            total += math.exp(F.cross_entropy(logits[keep], labels[keep]).item()) * n
            count += n
    return total / count

# %% wrong: takes the padding symbol out of the softmax (its logit is set to minus infinity), so the other symbols look more probable
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        logits = logits.clone()
        logits[..., pad_id] = float("-inf")
        keep = labels != pad_id
        total += F.cross_entropy(logits[keep], labels[keep], reduction="sum").item()
        count += keep.sum().item()
    return math.exp(total / count)

# %% right: collects the log-probabilities of all tokens in one long tensor
def perplexity(batches, pad_id):
    parts = []
    for logits, labels in batches:
        logp = logits.double().log_softmax(dim=-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        parts.append(logp[labels != pad_id])
    return torch.cat(parts).mean().neg().exp().item()

# %% right: sums the losses of double logits with ignore_index and counts with count_nonzero
def perplexity(batches, pad_id):
    nll = sum(F.cross_entropy(x.double().transpose(1, 2), y, ignore_index=pad_id, reduction="sum") for x, y in batches)
    count = sum(int(torch.count_nonzero(y - pad_id)) for _, y in batches)
    return float(torch.exp(nll / count))
