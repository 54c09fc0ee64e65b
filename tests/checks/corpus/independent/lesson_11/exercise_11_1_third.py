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


# %% wrong: sorts by length and then by place, which undoes the shuffle, so pairs of equal length share the same batches for every seed
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    places = list(range(len(lengths)))
    rng.shuffle(places)
    places = sorted(places, key=lambda i: (lengths[i], i))
    batches = [[]]
    for i in places:
        longer = batches[-1] + [i]
        size = len(longer) * (max(lengths[j][0] for j in longer) + max(lengths[j][1] for j in longer))
        if size > limit:
            batches.append([i])
        else:
            batches[-1] = longer
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


# %% wrong: does not start the longest target again with a new batch, so a long target of an earlier batch leaves later batches unfilled
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    places = list(range(len(lengths)))
    rng.shuffle(places)
    places.sort(key=lambda i: lengths[i])
    batches, batch = [], []
    longest_source = longest_target = 0
    for i in places:
        longest_source = max(longest_source, lengths[i][0])
        longest_target = max(longest_target, lengths[i][1])
        if batch and (len(batch) + 1) * (longest_source + longest_target) > limit:
            batches.append(batch)
            batch = []
        batch.append(i)
    batches.append(batch)
    rng.shuffle(batches)
    return batches


# %% two mistakes: opens a new batch where exactly limit symbols would be reached; and leaves the order of the batches from short to long
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    places = list(range(len(lengths)))
    rng.shuffle(places)
    places.sort(key=lambda i: lengths[i])
    batches, batch = [], []
    for i in places:
        new = [*batch, i]
        size = len(new) * (max(lengths[j][0] for j in new) + max(lengths[j][1] for j in new))
        if batch and size >= limit:
            batches.append(batch)
            new = [i]
        batch = new
    batches.append(batch)
    return batches


# %% right: uses torch: a random permutation, stable argsorts by target and then by source, running maxima to find each cut
def batches_by_length(lengths, limit, seed):
    rng = torch.Generator().manual_seed(seed)
    sizes = torch.tensor(lengths)  # (N, 2)
    mixed = torch.randperm(len(lengths), generator=rng)
    order = mixed[sizes[mixed, 1].argsort(stable=True)]
    order = order[sizes[order, 0].argsort(stable=True)]
    batches = []
    while len(order):
        longest = sizes[order].cummax(dim=0).values.sum(dim=1)  # of the first 1, 2, 3 ... pairs
        fits = longest * torch.arange(1, len(order) + 1) <= limit
        n = int(fits.long().cumprod(dim=0).sum())
        batches.append(order[:n].tolist())
        order = order[n:]
    return [batches[i] for i in torch.randperm(len(batches), generator=rng).tolist()]


# %% right: sorts by target, source and a random number, cuts in a generator function, draws the batches out one by one
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    keys = sorted((target, source, rng.random(), place) for place, (source, target) in enumerate(lengths))

    def cut():
        start, sources, targets = 0, 0, 0
        for end, (target, source, _, _) in enumerate(keys):
            wider = max(sources, source), max(targets, target)
            if (end + 1 - start) * sum(wider) > limit:
                yield [key[3] for key in keys[start:end]]
                start, wider = end, (source, target)
            sources, targets = wider
        if start < len(keys):
            yield [key[3] for key in keys[start:]]

    left, mixed = list(cut()), []
    while left:
        mixed.append(left.pop(rng.randrange(len(left))))
    return mixed
