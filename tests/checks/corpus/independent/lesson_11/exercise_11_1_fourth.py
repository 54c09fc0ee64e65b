# %% setup
import random

import torch


# %% wrong: the limit is on the source symbols and the target symbols separately, so both together can be twice the limit
def batches_by_length(lengths, limit, seed):
    rng = random.Random(seed)
    order = rng.sample(range(len(lengths)), len(lengths))
    order.sort(key=lambda i: lengths[i])
    out, open_batch = [], []
    for i in order:
        trial = open_batch + [i]
        longest_s = max(lengths[j][0] for j in trial)
        longest_t = max(lengths[j][1] for j in trial)
        if len(trial) * max(longest_s, longest_t) > limit:
            out.append(open_batch)
            trial = [i]
        open_batch = trial
    out.append(open_batch)
    rng.shuffle(out)
    return out


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


# %% right: buckets for each sum of lengths, shuffled one by one and strung together, cut from the long end
def batches_by_length(lengths, limit, seed):
    rng = random.Random(f"epoch {seed}")
    buckets = {}
    for place, (a, b) in enumerate(lengths):
        buckets.setdefault((a, b), []).append(place)
    line = []
    for key in sorted(buckets, reverse=True):
        rng.shuffle(buckets[key])
        line += buckets[key]
    out = []
    while line:
        n = 0
        while n < len(line):
            a = max(lengths[p][0] for p in line[: n + 1])
            b = max(lengths[p][1] for p in line[: n + 1])
            if (n + 1) * (a + b) > limit:
                break
            n += 1
        out.append(line[:n])
        del line[:n]
    return rng.sample(out, k=len(out))
