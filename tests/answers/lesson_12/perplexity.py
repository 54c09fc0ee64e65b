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

# %% wrong: mean loss times number of tokens, batch by batch; for a batch of nothing but padding the mean is NaN and NaN times 0 spoils the sum
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        n = int((labels != pad_id).sum())
        total += n * F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id).item()
        count += n
    return math.exp(total / count)

# %% wrong: padding is marked with -100 in place, which changes the caller's labels
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        labels[labels == pad_id] = -100
        total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum").item()
        count += (labels != -100).sum().item()
    return math.exp(total / count)

# %% wrong: takes 2 to the power of the mean instead of e, although the losses are in natural logarithms
def perplexity(batches, pad_id):
    total, count = 0.0, 0
    for logits, labels in batches:
        total += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, reduction="sum").item()
        count += (labels != pad_id).sum().item()
    return 2 ** (total / count)

# %% two mistakes: padding is taken to be the id 0, whatever pad_id says; and exp is taken of each token's loss, so it is the mean of the inverse probabilities
def perplexity(batches, pad_id):
    values = []
    for logits, labels in batches:
        losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
        values.append(losses[labels.flatten() != 0].exp())
    return torch.cat(values).mean().item()

# %% wrong: named in the review: multiplies the probabilities of all tokens and takes the root, a product that underflows
def perplexity(batches, pad_id):
    product, tokens = 1.0, 0
    for logits, labels in batches:
        for row, label in zip(logits.flatten(0, 1), labels.flatten()):
            if label != pad_id:
                product, tokens = product * row.softmax(dim=-1)[label].item(), tokens + 1
    return product ** (-1 / tokens) if product > 0 else math.inf

# %% wrong: named in the review: NaN for a batch of padding: mean loss times number of tokens
def perplexity(batches, pad_id):
    total = tokens = 0
    for logits, labels in batches:
        count = (labels != pad_id).sum()
        total = total + count * F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
        tokens = tokens + count
    return (total / tokens).exp().item()

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

# %% wrong: the mean of the batches' means
def perplexity(batches, pad_id):
    means = []
    for logits, labels in batches:
        if (labels != pad_id).any():
            means.append(F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id).item())
    return math.exp(sum(means) / len(means))

# %% right: all labels' log-probabilities in one row
def perplexity(batches, pad_id):
    picked = []
    for logits, labels in batches:
        real = labels.ne(pad_id)
        rows = logits[real].double()
        picked.append(rows.logsumexp(-1) - rows[torch.arange(len(rows)), labels[real]])
    return torch.cat(picked).mean().exp().item()
