# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% wrong: the mean of the batches' own perplexities, which gives a small batch as much weight as a large one
def perplexity(batches, pad_id):
    values = []
    for logits, labels in batches:
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
        values.append(loss.exp().item())
    return sum(values) / len(values)

# %% wrong: exp of the mean of the batches' mean losses, each batch counted equally whatever its number of tokens
def perplexity(batches, pad_id):
    losses = [F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id) for logits, labels in batches]
    return torch.stack(losses).mean().exp().item()

# %% wrong: the sum leaves out the padding but is divided by the number of all positions, the padding included
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, reduction="sum").item()
        count += labels.numel()
    return math.exp(total / count)

# %% wrong: padding is marked with -100 in place, which changes the caller's labels
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        labels[labels == pad_id] = -100
        total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum").item()
        count += (labels != -100).sum().item()
    return math.exp(total / count)

# %% two mistakes: padding is taken to be the id 0, whatever pad_id says; and exp is taken of each token's loss, so it is the mean of the inverse probabilities
def perplexity(batches, pad_id):
    values = []
    for logits, labels in batches:
        losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
        values.append(losses[labels.flatten() != 0].exp())
    return torch.cat(values).mean().item()

# %% wrong: weighs the mean of each batch by all its positions, padding included, instead of by the positions that count
def perplexity(batches, pad_id):
    total = count = 0.0
    for logits, labels in batches:
        if (labels != pad_id).any():
            total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id).item() * labels.numel()
            count += labels.numel()
    return math.exp(total / count)

# %% right: loops over every token, logsumexp minus the label's logit
def perplexity(batches, pad_id):
    losses = []
    for logits, labels in batches:
        for row_logits, row_labels in zip(logits, labels, strict=True):
            for scores, label in zip(row_logits, row_labels.tolist(), strict=True):
                if label != pad_id:
                    losses.append((scores.logsumexp(dim=0) - scores[label]).item())
    return math.exp(math.fsum(losses) / len(losses))

# %% right: sums the losses of double logits with ignore_index and counts with count_nonzero
def perplexity(batches, pad_id):
    nll = sum(F.cross_entropy(x.double().transpose(1, 2), y, ignore_index=pad_id, reduction="sum") for x, y in batches)
    count = sum(int(torch.count_nonzero(y - pad_id)) for _, y in batches)
    return float(torch.exp(nll / count))

# %% setup
import math
import torch
import torch.nn.functional as F

# %% right: all labels' log-probabilities in one row
def perplexity(batches, pad_id):
    picked = []
    for logits, labels in batches:
        real = labels.ne(pad_id)
        rows = logits[real].double()
        picked.append(rows.logsumexp(-1) - rows[torch.arange(len(rows)), labels[real]])
    return torch.cat(picked).mean().exp().item()
