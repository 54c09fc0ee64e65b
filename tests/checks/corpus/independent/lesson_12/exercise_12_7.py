# %% setup
import math

import torch
import torch.nn.functional as F

# %% right: a loop over the characters to score, window by window
def text_bits(model, ids, length, stride):
    found = {}
    start = 0
    while len(found) < len(ids) - 1:
        piece = ids[start : start + length]
        log_probs = model(piece[None])[0].log_softmax(-1)
        for j in range(len(piece)):
            place = start + j + 1
            if place < len(ids) and place not in found:
                found[place] = -log_probs[j, ids[place]].item() / math.log(2)
        start += stride
    return sum(found.values()) / len(found)

# %% right: log2 of the probabilities, a tensor of all places
def text_bits(model, ids, length, stride):
    bits = torch.full((len(ids),), float("nan"), dtype=torch.float64)
    for start in range(0, len(ids), stride):
        fed = ids[start : start + length][: len(ids) - 1 - start]
        if len(fed) == 0 or not bits[1:].isnan().any():
            break
        p = model(fed.unsqueeze(0)).softmax(-1)[0].gather(-1, ids[start + 1 : start + 1 + len(fed), None])[:, 0]
        place = torch.arange(start + 1, start + 1 + len(fed))
        new = bits[place].isnan()
        bits[place[new]] = -p[new].double().log2()
    return bits[1:].mean()

# %% right: first window apart, later ones by how many are new
def text_bits(model, ids, length, stride):
    def losses(start, stop):
        return F.cross_entropy(model(ids[None, start:stop])[0], ids[start + 1 : stop + 1], reduction="none")

    last = len(ids) - 1
    stop = min(length, last)
    total = losses(0, stop).sum()
    start = 0
    while stop < last:
        start += stride
        end = min(start + length, last)
        total = total + losses(start, end)[-(end - stop) :].sum()
        stop = end
    return (total / last / math.log(2)).item()

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

# %% wrong: the last window scores its last stride characters though it is shorter
def text_bits(model, ids, length, stride):
    total, number, done = 0.0, 0, 0
    for start in range(0, len(ids) - 1, stride):
        labels = ids[start + 1 : start + 1 + length]
        losses = F.cross_entropy(model(ids[None, start : start + len(labels)])[0], labels, reduction="none")
        losses = losses if start == 0 else losses[-stride:]
        total, number, done = total + losses.sum().item(), number + len(losses), start + len(labels)
        if done == len(ids) - 1:
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

# %% wrong: nats
def text_bits(model, ids, length, stride):
    total, done = 0.0, 0
    for start in range(0, len(ids) - 1, stride):
        labels = ids[start + 1 : start + 1 + length]
        losses = F.cross_entropy(model(ids[None, start : start + len(labels)])[0], labels, reduction="none")
        total += losses[done - start :].sum().item()
        done = start + len(labels)
        if done == len(ids) - 1:
            break
    return total / (len(ids) - 1)

# %% wrong: of the first window, too, only the last stride characters count
def text_bits(model, ids, length, stride):
    parts, done = [], 0
    for start in range(0, len(ids) - 1, stride):
        labels = ids[start + 1 : start + 1 + length]
        losses = F.cross_entropy(model(ids[None, start : start + len(labels)])[0], labels, reduction="none")
        parts.append(losses[-stride:])
        done = start + len(labels)
        if done == len(ids) - 1:
            break
    return torch.cat(parts).mean().item() / math.log(2)

# %% wrong: the windows lie side by side; stride is not used
def text_bits(model, ids, length, stride):
    total = 0.0
    for start in range(0, len(ids) - 1, length):
        labels = ids[start + 1 : start + 1 + length]
        total += F.cross_entropy(model(ids[None, start : start + len(labels)])[0], labels, reduction="sum").item()
    return total / (len(ids) - 1) / math.log(2)

# %% wrong: the first characters of later windows count, where little stands before them
def text_bits(model, ids, length, stride):
    total, done = 0.0, 0
    for start in range(0, len(ids) - 1, stride):
        labels = ids[start + 1 : start + 1 + length]
        losses = F.cross_entropy(model(ids[None, start : start + len(labels)])[0], labels, reduction="none")
        total += losses[:stride].sum().item()
        done = start + len(labels)
        if done == len(ids) - 1:
            break
    return total / (len(ids) - 1) / math.log(2)

# %% wrong: the mean of the windows' means
def text_bits(model, ids, length, stride):
    means, done = [], 0
    for start in range(0, len(ids) - 1, stride):
        labels = ids[start + 1 : start + 1 + length]
        losses = F.cross_entropy(model(ids[None, start : start + len(labels)])[0], labels, reduction="none")
        means.append(losses[done - start :].mean())
        done = start + len(labels)
        if done == len(ids) - 1:
            break
    return torch.stack(means).mean().item() / math.log(2)

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
