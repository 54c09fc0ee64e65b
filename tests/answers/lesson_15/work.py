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
