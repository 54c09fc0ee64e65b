# %% setup
import torch


# %% wrong: columns are ranks, not steps
def work(positions):
    P = len(positions)
    table = torch.tensor([[int((positions[r][:, None] >= positions[s]).sum()) for s in range(P)] for r in range(P)])
    return table, table.max(dim=0).values.sum()


# %% wrong: the rank with most work altogether
def work(positions):
    P = len(positions)
    table = torch.tensor(
        [[int((positions[r][:, None] >= positions[(r - s) % P]).sum()) for s in range(P)] for r in range(P)]
    )
    return table, table.sum(dim=1).max()


# %% wrong: blocks travel the other way round
def work(positions):
    P = len(positions)
    table = torch.tensor(
        [[int((positions[r][:, None] >= positions[(r + s) % P]).sum()) for s in range(P)] for r in range(P)]
    )
    return table, table.max(dim=0).values.sum()


# %% wrong: a triangle for its own block, all or nothing for the others, by the number of the rank
def work(positions):
    P, n = positions.shape
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            holder = (r - s) % P
            table[r, s] = n * (n + 1) // 2 if s == 0 else n * n * (holder < r)
    return table, table.max(dim=0).values.sum()


# %% two mistakes: strictly earlier keys only; and the sum of all work as time
def work(positions):
    P = len(positions)
    table = torch.tensor(
        [[int((positions[r][:, None] > positions[(r - s) % P]).sum()) for s in range(P)] for r in range(P)]
    )
    return table, table.sum()


# %% right: four loops and plain numbers
def work(positions):
    rows = positions.tolist()
    P = len(rows)
    table, time = torch.zeros(P, P, dtype=torch.long), 0
    for step in range(P):
        counts = []
        for rank in range(P):
            keys = rows[rank - step]
            counts.append(sum(key <= query for query in rows[rank] for key in keys))
        table[:, step] = torch.tensor(counts)
        time += max(counts)
    return table, time


# %% right: the blocks rolled, and searched in sorted order
def work(positions):
    columns = []
    for step in range(len(positions)):
        keys = positions.roll(step, dims=0).sort(dim=1).values
        columns.append(torch.searchsorted(keys, positions.contiguous(), right=True).sum(dim=1))
    table = torch.stack(columns, dim=1)
    return table, table.max(0).values.sum()


# %% setup
import math
import itertools
import functools
import torch
import torch.nn.functional as F


# %% wrong: the keys of rank r + s
def work(positions):
    P = positions.shape[0]
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            keys = positions[(r + s) % P]
            table[r, s] = (positions[r][:, None] >= keys).sum()
    return table, table.max(dim=0).values.sum()


# %% wrong: columns are owners of the keys, not steps
def work(positions):
    P = positions.shape[0]
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for owner in range(P):
            table[r, owner] = (positions[r][:, None] >= positions[owner]).sum()
    return table, table.max(dim=0).values.sum()


# %% wrong: time is the largest total of a rank, nobody waits within a step
def work(positions):
    P = positions.shape[0]
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[r][:, None] >= positions[(r - s) % P]).sum()
    return table, table.sum(dim=1).max()


# %% wrong: a query doesn't see itself
def work(positions):
    P = positions.shape[0]
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[r][:, None] > positions[(r - s) % P]).sum()
    return table, table.max(dim=0).values.sum()


# %% wrong: queries and keys swapped
def work(positions):
    P = positions.shape[0]
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[r][None, :] <= positions[(r - s) % P][:, None]).sum()
    return table, table.max(dim=0).values.sum()


# %% wrong: the largest step of each rank is added up (wrong axis)
def work(positions):
    P = positions.shape[0]
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[r][:, None] >= positions[(r - s) % P]).sum()
    return table, table.max(dim=1).values.sum()


# %% wrong: a block of another rank is seen whole or not at all, by its first position
def work(positions):
    P, n = positions.shape
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        table[r, 0] = n * (n + 1) // 2
        for s in range(1, P):
            if positions[(r - s) % P, 0] < positions[r, 0]:
                table[r, s] = n * n
    return table, table.max(dim=0).values.sum()


# %% right: plain counting in Python lists
def work(positions):
    ranks = positions.tolist()
    P = len(ranks)
    count = lambda queries, keys: sum(k <= q for q in queries for k in keys)
    table = [[count(ranks[r], ranks[r - s]) for s in range(P)] for r in range(P)]
    time = sum(max(column) for column in zip(*table))
    return torch.tensor(table), time


# %% right: sorted keys with searchsorted, the ring turned by roll
def work(positions):
    P, n = positions.shape
    own = positions.reshape(P, n).contiguous()
    columns = []
    for s in range(P):
        held = own.roll(s, dims=0).sort(dim=1).values
        columns.append(torch.searchsorted(held, own, right=True).sum(dim=1))
    table = torch.stack(columns, dim=1)
    return table, table.amax(dim=0).sum()


# %% setup
import torch

# %% wrong: turns the ring the other way, rank r + s
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[(r + s) % P][None] <= positions[r][:, None]).sum()
    return table, table.max(dim=0).values.sum()

# %% wrong: strictly before, a query doesn't see itself
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[(r - s) % P][None] < positions[r][:, None]).sum()
    return table, table.max(dim=0).values.sum()

# %% wrong: time is that of the rank with the most pairs in all
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[(r - s) % P][None] <= positions[r][:, None]).sum()
    return table, table.sum(dim=1).max()

# %% wrong: time adds up the largest of each row
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[(r - s) % P][None] <= positions[r][:, None]).sum()
    return table, table.max(dim=1).values.sum()

# %% wrong: columns are ranks of keys, not steps
def work(positions):
    seen = positions[:, None, :, None] >= positions[None, :, None, :]
    table = seen.sum(dim=(2, 3))
    return table, table.max(dim=0).values.sum()

# %% wrong: queries and keys swapped, counts pairs in which the key lies after the query
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[(r - s) % P][None] >= positions[r][:, None]).sum()
    return table, table.max(dim=0).values.sum()

# %% wrong: supposes ascending positions: searchsorted into an unsorted row of keys
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = torch.searchsorted(positions[(r - s) % P].contiguous(), positions[r].contiguous(), right=True).sum()
    return table, table.max(dim=0).values.sum()

# %% wrong: compares blocks as a whole by first tokens (own half, earlier all, later none); right for tokens in a row
def work(positions):
    P, n = positions.shape
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            k = (r - s) % P
            if k == r:
                table[r, s] = n * (n + 1) // 2
            elif positions[k, 0] < positions[r, 0]:
                table[r, s] = n * n
    return table, table.max(dim=0).values.sum()

# %% wrong: tokens in a row supposed, positions not read
def work(positions):
    P, n = positions.shape
    r, s = torch.arange(P)[:, None], torch.arange(P)
    table = torch.where(s == 0, n * (n + 1) // 2, torch.where(s <= r, n * n, 0))
    return table, int(table.max(dim=0).values.sum())

# %% wrong: sorts the caller's positions in place
def work(positions):
    P = len(positions)
    positions[:] = positions.sort(dim=1).values
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = torch.searchsorted(positions[(r - s) % P], positions[r], right=True).sum()
    return table, table.max(dim=0).values.sum()

# %% wrong: one byte for each number of the table, which overflows above 255
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.uint8)
    for r in range(P):
        for s in range(P):
            table[r, s] = int((positions[(r - s) % P][None] <= positions[r][:, None]).sum()) % 256
    return table, table.max(dim=0).values.sum()

# %% wrong: rolls all rows by the same number, that of the first rank
def work(positions):
    P = len(positions)
    full = (positions[:, None, :, None] >= positions[None, :, None, :]).sum(dim=(2, 3))
    columns = [(0 - s) % P for s in range(P)]
    table = full[:, columns]
    return table, table.max(dim=0).values.sum()

# %% wrong: mean over ranks instead of the largest, rounded down
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[(r - s) % P][None] <= positions[r][:, None]).sum()
    return table, table.sum(dim=0).div(P, rounding_mode="floor").sum()

# %% wrong: time is the sum of all pairs
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[(r - s) % P][None] <= positions[r][:, None]).sum()
    return table, table.sum()

# %% wrong: (s - r) instead of (r - s)
def work(positions):
    P = len(positions)
    full = (positions[:, None, :, None] >= positions[None, :, None, :]).sum(dim=(2, 3))
    r, s = torch.arange(P)[:, None], torch.arange(P)
    table = full.gather(1, (s - r) % P)
    return table, table.max(dim=0).values.sum()

# %% wrong: time without the own block (step 0)
def work(positions):
    P = len(positions)
    full = (positions[:, None, :, None] >= positions[None, :, None, :]).sum(dim=(2, 3))
    r, s = torch.arange(P)[:, None], torch.arange(P)
    table = full.gather(1, (r - s) % P)
    return table, table[:, 1:].max(dim=0).values.sum()

# %% wrong: rows are steps, columns ranks (transposed); time right
def work(positions):
    P = len(positions)
    full = (positions[:, None, :, None] >= positions[None, :, None, :]).sum(dim=(2, 3))
    r, s = torch.arange(P)[:, None], torch.arange(P)
    table = full.gather(1, (r - s) % P)
    return table.T, table.max(dim=0).values.sum()

# %% wrong: steps counted from 1: the first column is the block of the rank before
def work(positions):
    P = len(positions)
    full = (positions[:, None, :, None] >= positions[None, :, None, :]).sum(dim=(2, 3))
    r, s = torch.arange(P)[:, None], torch.arange(1, P + 1)
    table = full.gather(1, (r - s) % P)
    return table, table.max(dim=0).values.sum()

# %% wrong: visible by places in the block for the own block (tril), supposing ascending order elsewhere right; n(n+1)/2 is added for the other blocks' diagonal too
def work(positions):
    P, n = positions.shape
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            k = (r - s) % P
            mask = (positions[k][None] <= positions[r][:, None])
            if r == k:
                mask = mask & torch.ones(n, n, dtype=torch.bool).tril()
            table[r, s] = mask.sum()
    return table, table.max(dim=0).values.sum()

# %% wrong: returns the times of the steps, not their sum
def work(positions):
    P = len(positions)
    full = (positions[:, None, :, None] >= positions[None, :, None, :]).sum(dim=(2, 3))
    r, s = torch.arange(P)[:, None], torch.arange(P)
    table = full.gather(1, (r - s) % P)
    return table, table.max(dim=0).values

# %% two mistakes: the other way round the ring, and strictly before
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[(r + s) % P][None] < positions[r][:, None]).sum()
    return table, table.max(dim=0).values.sum()

# %% two mistakes: columns are ranks of keys, and time of the busiest rank
def work(positions):
    table = (positions[:, None, :, None] >= positions[None, :, None, :]).sum(dim=(2, 3))
    return table, table.sum(1).max()

# %% right: two loops over ranks and steps
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = (positions[r - s][None] <= positions[r][:, None]).sum()
    return table, table.max(dim=0).values.sum()

# %% right: all at once, and a gather
def work(positions):
    P = positions.shape[0]
    full = torch.einsum("rkij->rk", (positions[:, None, :, None] >= positions[None, :, None, :]).long())
    r, s = torch.arange(P)[:, None], torch.arange(P)
    table = full.gather(1, (r - s) % P)
    return table, table.amax(0).sum().item()

# %% right: four Python loops, int32, time as a tensor of shape (1,), a list
def work(positions):
    p = positions.tolist()
    P = len(p)
    table = [[0] * P for _ in range(P)]
    for r in range(P):
        for s in range(P):
            for q in p[r]:
                for k in p[(r - s) % P]:
                    table[r][s] += k <= q
    time = sum(max(row[s] for row in table) for s in range(P))
    return [torch.tensor(table, dtype=torch.int32), torch.tensor([time])]

# %% right: sorts the keys of each rank (a copy) and counts by searchsorted
def work(positions):
    P, n = positions.shape
    ordered = positions.sort(dim=1).values
    columns = []
    for s in range(P):
        keys = ordered.roll(s, dims=0)
        columns.append(torch.searchsorted(keys, positions.contiguous(), right=True).sum(1))
    table = torch.stack(columns, dim=1)
    return table, sum(int(c.max()) for c in columns)

# %% right: cumulative counts of a one-hot owner table over the text
def work(positions):
    P, n = positions.shape
    owner = torch.empty(P * n, dtype=torch.long)
    owner[positions] = torch.arange(P)[:, None].expand(P, n)
    before = torch.nn.functional.one_hot(owner, P).cumsum(0)
    full = before[positions].sum(1)
    table = torch.stack([torch.stack([full[r, (r - s) % P] for s in range(P)]) for r in range(P)])
    return table, table.max(0)[0].sum(0, keepdim=True)

# %% right: rolls the blocks as they travel
def work(positions):
    held, columns, time = positions, [], 0
    for _ in range(positions.shape[0]):
        seen = positions.unsqueeze(2).ge(held.unsqueeze(1)).flatten(1).sum(1)
        columns.append(seen)
        time += seen.max().item()
        held = torch.cat([held[-1:], held[:-1]])
    return torch.stack(columns).T, time


# %% setup
import torch

# %% right: time as a float tensor? whole number as Python float
def work(positions):
    P = len(positions)
    table = torch.stack([(positions[:, :, None] >= positions.roll(s, 0)[:, None]).sum((1, 2)) for s in range(P)], 1)
    return table, float(table.amax(0).sum())

# %% right: time shape (1,) and int64
def work(positions):
    P = len(positions)
    table = torch.stack([(positions[:, :, None] >= positions.roll(s, 0)[:, None]).sum((1, 2)) for s in range(P)], 1)
    return [table, table.amax(0).sum().reshape(1)]

# %% right: int32 alone
def work(positions):
    P = len(positions)
    table = torch.stack([(positions[:, :, None] >= positions.roll(s, 0)[:, None]).sum((1, 2)) for s in range(P)], 1)
    return table.int(), int(table.amax(0).sum())

# %% wrong: float table
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P)
    for s in range(P):
        table[:, s] = (positions[:, :, None] >= positions.roll(s, 0)[:, None]).sum((1, 2))
    return table, table.amax(0).sum()

# %% wrong: int8 sums: the visible pairs of a block overflow from 128 on
def work(positions):
    P = len(positions)
    table = torch.stack([(positions[:, :, None] >= positions.roll(s, 0)[:, None]).to(torch.int8).sum((1, 2), dtype=torch.int8) for s in range(P)], 1).long()
    return table, table.amax(0).sum()

# %% wrong: assumes the causal mask per rank by its largest position: counts keys up to the last query for all queries
def work(positions):
    P, n = positions.shape
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            table[r, s] = n * (positions[(r - s) % P] <= positions[r].max()).sum()
    return table, table.amax(0).sum()

# %% wrong: largest of each step taken over the first P - 1 ranks... range(P - 1)
def work(positions):
    P = len(positions)
    table = torch.stack([(positions[:, :, None] >= positions.roll(s, 0)[:, None]).sum((1, 2)) for s in range(P)], 1)
    return table, sum(int(max(table[r, s] for r in range(max(1, P - 1)))) for s in range(P))

# %% wrong: in ring of the ranks' own order the last rank begins: (r - s - 1) for r = 0 only (Python slice mistake: positions[r - s] if r >= s else positions[r - s - 1])
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(P):
            k = r - s if r >= s else (r - s - 1) % P
            table[r, s] = (positions[k] <= positions[r][:, None]).sum()
    return table, table.amax(0).sum()

# %% wrong: stops at rank 0: blocks with r < s counted as nothing
def work(positions):
    P = len(positions)
    table = torch.zeros(P, P, dtype=torch.long)
    for r in range(P):
        for s in range(r + 1):
            table[r, s] = (positions[r - s] <= positions[r][:, None]).sum()
    return table, table.amax(0).sum()
