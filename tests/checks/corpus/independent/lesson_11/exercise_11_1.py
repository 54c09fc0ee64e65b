# %% setup
import random

import torch

from course_utils import metrics, zoo
from course_utils.datasets.pronunciations import pronunciations
from course_utils.metrics import edit_distance
from course_utils.zoo.pronunciation import pronounce


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


# %% wrong: a batch must stay below limit, so one of exactly limit symbols is not filled
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: lengths[i])
    batches, batch, s, t = [], [], 0, 0
    for i in order:
        new_s, new_t = max(s, lengths[i][0]), max(t, lengths[i][1])
        if batch and (len(batch) + 1) * (new_s + new_t) >= limit:
            batches.append(batch)
            batch, new_s, new_t = [], *lengths[i]
        batch.append(i)
        s, t = new_s, new_t
    batches.append(batch)
    rng.shuffle(batches)
    return batches


# %% wrong: the pairs of the last batch, which never became full, are missing
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: sum(lengths[i]))
    batches, batch = [], []
    for i in order:
        new = batch + [i]
        longest = max(lengths[j][0] for j in new) + max(lengths[j][1] for j in new)
        if batch and len(new) * longest > limit:
            batches.append(batch)
            batch = [i]
        else:
            batch = new
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


# %% wrong: the size is reckoned from the pair with the longest sum instead of the longest source plus the longest target, so some batches are larger than limit
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: lengths[i][0] + lengths[i][1])
    batches, batch = [], []
    for i in order:
        longest = lengths[i][0] + lengths[i][1]  # sorted, so the newest is the longest
        if batch and (len(batch) + 1) * longest > limit:
            batches.append(batch)
            batch = []
        batch.append(i)
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches


# %% wrong: shuffles with Python's global random numbers and never uses the seed, so the same seed does not give the same batches
def batches_by_length(lengths, limit, seed):
    order = list(range(len(lengths)))
    random.shuffle(order)
    order.sort(key=lambda i: sum(lengths[i]))
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
    random.shuffle(batches)
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


# %% right: ties are mixed by a random number in the sort key, and the pairs are taken from long to short
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    keyed = sorted(((s + t, rng.random(), i) for i, (s, t) in enumerate(lengths)), reverse=True)
    batches = []
    longest_s = longest_t = 0
    for _, _, i in keyed:
        s, t = max(longest_s, lengths[i][0]), max(longest_t, lengths[i][1])
        if batches and (len(batches[-1]) + 1) * (s + t) <= limit:
            batches[-1].append(i)
            longest_s, longest_t = s, t
        else:
            batches.append([i])
            longest_s, longest_t = lengths[i]
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


# %% right: sorts by the length with a little random noise (below 1 symbol), from a queue, the batches mixed by sampling
def batches_by_length(lengths, limit, seed):
    from collections import deque

    rng = random.Random(seed)
    noisy = [source + target + rng.uniform(0, 0.9) for source, target in lengths]
    queue = deque(sorted(range(len(lengths)), key=noisy.__getitem__))
    batches = []
    while queue:
        batch = [queue.popleft()]
        s, t = lengths[batch[0]]
        while queue:
            s, t = max(s, lengths[queue[0]][0]), max(t, lengths[queue[0]][1])
            if (len(batch) + 1) * (s + t) > limit:
                break
            batch.append(queue.popleft())
        batches.append(batch)
    return rng.sample(batches, len(batches))


# %% wrong: named in the review: a batch may have limit + 1 symbols
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: lengths[i])
    batches, batch, source, target = [], [], 0, 0
    for i in order:
        s, t = max(source, lengths[i][0]), max(target, lengths[i][1])
        if batch and (len(batch) + 1) * (s + t) > limit + 1:
            batches.append(batch)
            batch = []
            s, t = lengths[i]
        batch.append(i)
        source, target = s, t
    batches.append(batch)
    rng.shuffle(batches)
    return batches


# %% wrong: named in the review: the running maxima are not reset as a batch opens (they only fall back to the pair's own when sorted from long to short)
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: (-lengths[i][0], -lengths[i][1]))
    batches, batch, source, target = [], [], 0, 0
    for i in order:
        s, t = max(source, lengths[i][0]), max(target, lengths[i][1])
        if batch and (len(batch) + 1) * (s + t) > limit:
            batches.append(batch)
            batch = []
            pass
        batch.append(i)
        source, target = s, t
    batches.append(batch)
    rng.shuffle(batches)
    return batches


# %% wrong: named in the review: the running maxima are not reset as a batch opens, pairs from short to long
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: lengths[i])
    batches, batch, source, target = [], [], 0, 0
    for i in order:
        s, t = max(source, lengths[i][0]), max(target, lengths[i][1])
        if batch and (len(batch) + 1) * (s + t) > limit:
            batches.append(batch)
            batch = []
            pass
        batch.append(i)
        source, target = s, t
    batches.append(batch)
    rng.shuffle(batches)
    return batches


# %% wrong: named in the review: pairs above half the limit are dropped
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = [i for i, (s, t) in enumerate(lengths) if s + t <= limit // 2]
    rng.shuffle(order)
    order.sort(key=lambda i: lengths[i])
    batches, batch, source, target = [], [], 0, 0
    for i in order:
        s, t = max(source, lengths[i][0]), max(target, lengths[i][1])
        if batch and (len(batch) + 1) * (s + t) > limit:
            batches.append(batch)
            batch = []
            s, t = lengths[i]
        batch.append(i)
        source, target = s, t
    batches.append(batch)
    rng.shuffle(batches)
    return batches


# %% wrong: named in the review: the size is reckoned as 2 * n * the longest of all, source or target
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: lengths[i])
    batches, batch, source, target = [], [], 0, 0
    for i in order:
        s, t = max(source, lengths[i][0]), max(target, lengths[i][1])
        if batch and (len(batch) + 1) * 2 * max(s, t) > limit:
            batches.append(batch)
            batch = []
            s, t = lengths[i]
        batch.append(i)
        source, target = s, t
    batches.append(batch)
    rng.shuffle(batches)
    return batches


# %% wrong: named in the review: the batches come from long to short, they are not mixed
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: (-lengths[i][0], -lengths[i][1]))
    batches, batch, source, target = [], [], 0, 0
    for i in order:
        s, t = max(source, lengths[i][0]), max(target, lengths[i][1])
        if batch and (len(batch) + 1) * (s + t) > limit:
            batches.append(batch)
            batch = []
            s, t = lengths[i]
        batch.append(i)
        source, target = s, t
    batches.append(batch)
    pass
    return batches


# %% wrong: named in the review: every pair is a batch by itself
def batches_by_length(lengths, limit, seed):
    batches = [[i] for i in range(len(lengths))]
    random.Random(seed).shuffle(batches)
    return batches


# %% right: named in the review: pairs in order of the larger of source and target, from long to short
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    order.sort(key=lambda i: -max(lengths[i]))
    batches, batch, source, target = [], [], 0, 0
    for i in order:
        s, t = max(source, lengths[i][0]), max(target, lengths[i][1])
        if batch and (len(batch) + 1) * (s + t) > limit:
            batches.append(batch)
            batch = []
            s, t = lengths[i]
        batch.append(i)
        source, target = s, t
    batches.append(batch)
    rng.shuffle(batches)
    return batches
