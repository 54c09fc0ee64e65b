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


# %% right: gathers the log-probabilities of all real labels into one long tensor
def perplexity(batches, pad_id):
    kept = []
    for logits, labels in batches:
        keep = labels != pad_id
        log_p = logits[keep].double().log_softmax(dim=-1)  # (N, V)
        kept.append(log_p.gather(-1, labels[keep].unsqueeze(-1)).squeeze(-1))
    return math.exp(-torch.cat(kept).mean().item())


# %% right: a running mean over the tokens, updated batch by batch
def perplexity(batches, pad_id):
    mean, seen = 0.0, 0
    for logits, labels in batches:
        keep = labels.ne(pad_id)
        n = int(keep.sum())
        if n == 0:
            continue
        loss = F.cross_entropy(logits[keep], labels[keep]).item()
        seen += n
        mean += (loss - mean) * n / seen
    return math.exp(mean)


# %% right: loops over every token, logsumexp minus the label's logit
def perplexity(batches, pad_id):
    losses = []
    for logits, labels in batches:
        for row_logits, row_labels in zip(logits, labels, strict=True):
            for scores, label in zip(row_logits, row_labels.tolist(), strict=True):
                if label != pad_id:
                    losses.append((scores.logsumexp(dim=0) - scores[label]).item())
    return math.exp(math.fsum(losses) / len(losses))


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
