# %% setup
import math

import torch
import torch.nn.functional as F

# %% wrong: all of every window, averaged over what was scored
def text_bits(model, ids, length, stride):
    total, number = 0.0, 0
    for start in range(0, len(ids) - 1, stride):
        labels = ids[start + 1 : start + 1 + length]
        logits = model(ids[None, start : start + len(labels)])[0]
        total += F.cross_entropy(logits, labels, reduction="sum").item()
        number += len(labels)
        if start + len(labels) == len(ids) - 1:
            break
    return total / number / math.log(2)

# %% wrong: what fills no whole window is dropped
def text_bits(model, ids, length, stride):
    total, number = 0.0, 0
    for window in ids.unfold(0, length + 1, stride) if len(ids) > length else []:
        losses = F.cross_entropy(model(window[None, :-1])[0], window[1:], reduction="none")
        losses = losses if number == 0 else losses[length - stride :]
        total, number = total + losses.sum().item(), number + len(losses)
    return total / max(number, 1) / math.log(2)

# %% wrong: the windows lie side by side; stride is not used
def text_bits(model, ids, length, stride):
    total = 0.0
    for start in range(0, len(ids) - 1, length):
        labels = ids[start + 1 : start + 1 + length]
        total += F.cross_entropy(model(ids[None, start : start + len(labels)])[0], labels, reduction="sum").item()
    return total / (len(ids) - 1) / math.log(2)

# %% wrong: feeds the whole text at once, more than the model has room for
def text_bits(model, ids, length, stride):
    losses = F.cross_entropy(model(ids[None, :-1])[0], ids[1:])
    return losses.item() / math.log(2)

# %% two mistakes: nats, and divided by the number of all characters
def text_bits(model, ids, length, stride):
    total, done = 0.0, 0
    for start in range(0, len(ids) - 1, stride):
        labels = ids[start + 1 : start + 1 + length]
        losses = F.cross_entropy(model(ids[None, start : start + len(labels)])[0], labels, reduction="none")
        total += losses[done - start :].sum().item()
        done = start + len(labels)
        if done == len(ids) - 1:
            break
    return total / len(ids)

# %% wrong: a later window overwrites what an earlier one has scored, so the first characters of each window count
def text_bits(model, ids, length, stride):
    losses = torch.zeros(len(ids) - 1)
    for start in range(0, len(ids) - 1, stride):
        labels = ids[start + 1 : start + 1 + length]
        logits = model(ids[None, start : start + len(labels)])[0]
        losses[start : start + len(labels)] = F.cross_entropy(logits, labels, reduction="none")
    return losses.mean().item() / math.log(2)

# %% right: looks up for each character the first window that reaches it, and asks the model again for each
def text_bits(model, ids, length, stride):
    bits = []
    for place in range(1, len(ids)):
        number = 0 if place <= length else -(-(place - length) // stride)
        start = number * stride
        window = ids[start : start + length]
        log_probs = model(window[None]).log_softmax(dim=-1)[0]
        bits.append(-log_probs[place - 1 - start, ids[place]].item() / math.log(2))
    return sum(bits) / len(bits)

# %% right: a while loop that moves on until the last character has its loss, the losses collected in a tensor of not-a-number
def text_bits(model, ids, length, stride):
    losses = torch.full((len(ids) - 1,), float("nan"))
    start = 0
    while losses.isnan().any():
        inputs, targets = ids[start:-1][:length], ids[start + 1 :][:length]
        new = F.cross_entropy(model(inputs.unsqueeze(0)).squeeze(0), targets, reduction="none")
        here = losses[start : start + len(targets)]
        losses[start : start + len(targets)] = torch.where(here.isnan(), new, here)
        start += stride
    return losses.mean() / math.log(2)

# %% right: turns the labels that are scored already into -100, which cross entropy ignores
def text_bits(model, ids, length, stride):
    nats, end = 0.0, 1
    for begin in range(0, len(ids) - 1, stride):
        labels = ids[begin + 1 : begin + length + 1].clone()
        logits = model(ids[begin : begin + len(labels)][None])
        labels[: end - begin - 1] = -100
        nats += float(F.cross_entropy(logits[0], labels, ignore_index=-100, reduction="sum"))
        end = begin + 1 + len(labels)
        if end == len(ids):
            return nats / ((len(ids) - 1) * math.log(2))
