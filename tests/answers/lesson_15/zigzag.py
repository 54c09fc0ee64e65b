# %% setup
import torch


# %% wrong: the second chunks are not turned round
def zigzag(L, P):
    first, second = torch.arange(L).chunk(2)
    positions = torch.cat((first.view(P, -1), second.view(P, -1)), dim=1)
    return positions, torch.argsort(positions.flatten())


# %% wrong: every second chunk runs backward
def zigzag(L, P):
    n = L // (2 * P)
    rows = [list(range(r * n, (r + 1) * n)) + list(range(L - 1 - r * n, L - 1 - (r + 1) * n, -1)) for r in range(P)]
    positions = torch.tensor(rows)
    return positions, torch.argsort(positions.flatten())


# %% wrong: takes the order for its own inverse
def zigzag(L, P):
    chunks = torch.arange(L).chunk(2 * P)
    positions = torch.stack([torch.cat((chunks[r], chunks[2 * P - 1 - r])) for r in range(P)])
    return positions, positions.reshape(-1)


# %% wrong: a boustrophedon of rounds, in which rank r has one token of each round
def zigzag(L, P):
    rounds = torch.arange(L).view(-1, P)
    rounds[1::2] = rounds[1::2].flip(1)
    positions = rounds.T.contiguous()
    return positions, torch.argsort(positions.flatten())


# %% wrong: sorts the positions of each rank into a descending order for the inverse
def zigzag(L, P):
    chunks = torch.arange(L).chunk(2 * P)
    positions = torch.stack([torch.cat((chunks[r], chunks[2 * P - 1 - r])) for r in range(P)])
    return positions, torch.argsort(positions.flatten(), descending=True)


# %% right: lists, and an inverse written place by place
def zigzag(L, P):
    n = L // (2 * P)
    rows = []
    for r in range(P):
        front = list(range(r * n, (r + 1) * n))
        back = list(range(L - (r + 1) * n, L - r * n))
        rows.append(front + back)
    inverse = [0] * L
    for place, position in enumerate(sum(rows, [])):
        inverse[position] = place
    return torch.tensor(rows), torch.tensor(inverse)


# %% right: a scatter
def zigzag(L, P):
    chunks = torch.arange(L).chunk(2 * P)
    positions = torch.stack([torch.cat((chunks[r], chunks[-1 - r])) for r in range(P)])
    inverse = torch.empty(L, dtype=torch.long)
    inverse[positions.flatten()] = torch.arange(L)
    return positions, inverse


# %% setup
import math
import itertools
import functools
import torch
import torch.nn.functional as F


# %% wrong: the chunk from the end is in reverse order
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], torch.arange(L).flip(0).view(2 * P, -1)[:P]], dim=1)
    return positions, positions.flatten().argsort()


# %% wrong: the inverse is the order itself
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.flatten()


# %% wrong: second chunk is P + r, not counted from the end
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:]], dim=1)
    return positions, positions.flatten().argsort()


# %% wrong: chunks are columns of the table, so every 2 P-th position
def zigzag(L, P):
    chunks = torch.arange(L).view(-1, 2 * P).T
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.flatten().argsort()


# %% wrong: the inverse has the shape of the positions
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.flatten().argsort().view(P, -1)


# %% wrong: sorts within each rank for the inverse
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.argsort(dim=1).flatten()


# %% wrong: index -r for the r-th chunk from the end, off by one
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.stack([torch.cat([chunks[r], chunks[-r]]) for r in range(P)])
    return positions, positions.flatten().argsort()


# %% right: lists, the place by index()
def zigzag(L, P):
    c = L // (2 * P)
    ranks = [[*range(r * c, (r + 1) * c), *range(L - (r + 1) * c, L - r * c)] for r in range(P)]
    order = sum(ranks, [])
    return torch.tensor(ranks), torch.tensor([order.index(i) for i in range(L)])


# %% right: arithmetic with broadcasting, the places written by scatter
def zigzag(L, P):
    c = L // P // 2
    ranks = torch.arange(P)
    starts = torch.stack([ranks * c, (2 * P - 1 - ranks) * c], dim=-1)  # (P, 2)
    positions = (starts[..., None] + torch.arange(c)).reshape(P, 2 * c)
    order = positions.reshape(-1)
    inverse = torch.zeros(L, dtype=torch.long).scatter_(0, order, torch.arange(L))
    return positions, inverse
