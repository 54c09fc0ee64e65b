# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce

# %% wrong: judges the longest target by the last pair of the batch alone, though in order of (source, target) an earlier pair may have the longer target, so a batch can exceed the limit
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = sorted(range(len(lengths)), key=lambda i: (lengths[i], rng.random()))
    batches, batch = [], []
    for i in order:
        if batch and (len(batch) + 1) * sum(lengths[i]) > limit:
            batches.append(batch)
            batch = []
        batch.append(i)
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches

# %% wrong: pairs of equal length never change places; the seed only mixes the order of the batches
def batches_by_length(lengths, limit, seed):
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    batches, batch, s, t = [], [], 0, 0
    for i in order:
        s2, t2 = max(s, lengths[i][0]), max(t, lengths[i][1])
        if batch and (len(batch) + 1) * (s2 + t2) > limit:
            batches.append(batch)
            batch, s2, t2 = [], lengths[i][0], lengths[i][1]
        batch.append(i)
        s, t = s2, t2
    if batch:
        batches.append(batch)
    random.Random(seed).shuffle(batches)
    return batches

# %% wrong: adds up the pairs' own lengths without the padding, so the padded batch can exceed the limit
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: sum(lengths[i]))
    batches, batch, used = [], [], 0
    for i in order:
        if batch and used + sum(lengths[i]) > limit:
            batches.append(batch)
            batch, used = [], 0
        batch.append(i)
        used += sum(lengths[i])
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches

# %% wrong: the last batch is lost, since it is never appended after the loop
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: lengths[i])
    batches, batch = [], []
    for i in order:
        new = batch + [i]
        if len(new) * (max(lengths[j][0] for j in new) + max(lengths[j][1] for j in new)) > limit:
            batches.append(batch)
            new = [i]
        batch = new
    rng.shuffle(batches)
    return batches

# %% two mistakes: a batch that would have exactly limit symbols is cut before its last pair; and the batches come from short to long instead of in mixed order
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: lengths[i])
    batches, batch = [], []
    for i in order:
        new = batch + [i]
        if batch and len(new) * (max(lengths[j][0] for j in new) + max(lengths[j][1] for j in new)) >= limit:
            batches.append(batch)
            new = [i]
        batch = new
    if batch:
        batches.append(batch)
    return batches

# %% right: orders by the target first and uses a torch generator for both mixings
def batches_by_length(lengths, limit, seed):
    rng = torch.Generator().manual_seed(seed)
    order = sorted(torch.randperm(len(lengths), generator=rng).tolist(), key=lambda i: (lengths[i][1], lengths[i][0]))
    batches, s, t = [], 0, 0
    for i in order:
        s, t = max(s, lengths[i][0]), max(t, lengths[i][1])
        if batches and (len(batches[-1]) + 1) * (s + t) <= limit:
            batches[-1].append(i)
        else:
            batches.append([i])
            s, t = lengths[i]
    return [batches[k] for k in torch.randperm(len(batches), generator=rng).tolist()]

# %% right: orders by the sum of both lengths, ties by random numbers, cuts slices with two indices
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    lot = [rng.random() for _ in lengths]
    order = sorted(range(len(lengths)), key=lambda i: (lengths[i][0] + lengths[i][1], lengths[i][0], lot[i]))
    batches, start = [], 0
    while start < len(order):
        stop = start + 1
        while stop < len(order):
            part = [lengths[i] for i in order[start : stop + 1]]
            if len(part) * (max(p[0] for p in part) + max(p[1] for p in part)) > limit:
                break
            stop += 1
        batches.append(order[start:stop])
        start = stop
    return rng.sample(batches, len(batches))
