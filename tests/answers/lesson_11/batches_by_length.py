# %% setup
import random

import torch

from course_utils import metrics, pretrained
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.pretrained.pronunciation import pronounce

# %% wrong: adds up the symbols of the pairs without their padding, so a padded batch can be larger than limit
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: sum(lengths[i]))
    batches, batch, size = [], [], 0
    for i in order:
        if batch and size + sum(lengths[i]) > limit:
            batches.append(batch)
            batch, size = [], 0
        batch.append(i)
        size += sum(lengths[i])
    batches.append(batch)
    rng.shuffle(batches)
    return batches

# %% wrong: only the order of the batches depends on the seed, the same pairs always share a batch
def batches_by_length(lengths, limit, seed):
    order = sorted(range(len(lengths)), key=lambda i: sum(lengths[i]))
    batches, batch, s, t = [], [], 0, 0
    for i in order:
        new_s, new_t = max(s, lengths[i][0]), max(t, lengths[i][1])
        if batch and (len(batch) + 1) * (new_s + new_t) > limit:
            batches.append(batch)
            batch, new_s, new_t = [], *lengths[i]
        batch.append(i)
        s, t = new_s, new_t
    if batch:
        batches.append(batch)
    random.Random(seed).shuffle(batches)
    return batches

# %% two mistakes: the batches come from short to long, they are not mixed; and a batch is closed only after the pair that makes it exceed limit has been put in
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: sum(lengths[i]))
    batches, batch = [], []
    for i in order:
        batch.append(i)
        longest = max(lengths[j][0] for j in batch) + max(lengths[j][1] for j in batch)
        if len(batch) * longest >= limit:
            batches.append(batch)
            batch = []
    if batch:
        batches.append(batch)
    return batches

# %% wrong: every pair is a batch by itself
def batches_by_length(lengths, limit, seed):
    batches = [[i] for i in range(len(lengths))]
    random.Random(seed).shuffle(batches)
    return batches

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

# %% right: PyTorch's generator instead of random, sorted by source and then target
def batches_by_length(lengths, limit, seed):
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(lengths), generator=generator).tolist()
    order = sorted(order, key=lambda i: tuple(lengths[i]))

    def size(places):
        return len(places) * (max(lengths[i][0] for i in places) + max(lengths[i][1] for i in places))

    batches, start = [], 0
    for stop in range(1, len(order) + 1):
        if stop == len(order) or size(order[start : stop + 1]) > limit:
            batches.append(order[start:stop])
            start = stop
    return [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]

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

# %% setup
import random

import torch

# %% wrong: measures the batch by its last pair, the longest source, though an earlier pair with a shorter source may have the longest target
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    places = list(range(len(lengths)))
    rng.shuffle(places)
    places.sort(key=lambda i: lengths[i])
    batches, batch = [], []
    for i in places:
        if batch and (len(batch) + 1) * sum(lengths[i]) > limit:
            batches.append(batch)
            batch = []
        batch.append(i)
    batches.append(batch)
    rng.shuffle(batches)
    return batches

# %% wrong: mixes the batches with the global generator, which the seed does not set, so the same seed gives another order each time
def batches_by_length(lengths, limit, seed):
    places = list(range(len(lengths)))
    random.Random(seed).shuffle(places)
    places.sort(key=lambda i: lengths[i])
    batches, batch = [], []
    for i in places:
        size = (len(batch) + 1) * sum(max(column) for column in zip(*(lengths[j] for j in [*batch, i]), strict=True))
        if size > limit:
            batches.append(batch)
            batch = []
        batch.append(i)
    batches.append(batch)
    random.shuffle(batches)
    return batches

# %% wrong: shuffles the pairs and cuts without sorting, so that short and long words share a batch
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    out, s, t = [[]], 0, 0
    for i in order:
        s2, t2 = max(s, lengths[i][0]), max(t, lengths[i][1])
        if (len(out[-1]) + 1) * (s2 + t2) > limit:
            out.append([])
            s2, t2 = lengths[i]
        out[-1].append(i)
        s, t = s2, t2
    rng.shuffle(out)
    return out

# %% wrong: gives the pairs of lengths themselves instead of their places
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    pairs = list(lengths)
    rng.shuffle(pairs)
    pairs.sort()
    out = [[]]
    for pair in pairs:
        trial = [*out[-1], pair]
        if len(trial) * (max(a for a, _ in trial) + max(b for _, b in trial)) > limit:
            out.append([])
        out[-1].append(pair)
    rng.shuffle(out)
    return out

# %% wrong: every batch has as many pairs as the longest pair of all would allow, so batches of short words stay far below the limit
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: lengths[i])
    n = limit // max(a + b for a, b in lengths)
    out = [order[i : i + n] for i in range(0, len(order), n)]
    rng.shuffle(out)
    return out

# %% setup
import random
import torch

# %% right: torch's permutation, the longest first, a batch's room worked out from its members each time
def batches_by_length(lengths, limit, seed):
    rng = torch.Generator().manual_seed(seed)
    mixed = torch.randperm(len(lengths), generator=rng).tolist()
    queue = sorted(mixed, key=lambda i: (sum(lengths[i]), lengths[i][0]))
    size = lambda some: len(some) * (max(lengths[i][0] for i in some) + max(lengths[i][1] for i in some))
    batches = []
    while queue:
        take = 1
        while take < len(queue) and size(queue[-take - 1:]) <= limit:
            take += 1
        batches.append(queue[-take:])
        del queue[-take:]
    return [batches[i] for i in torch.randperm(len(batches), generator=rng)]
