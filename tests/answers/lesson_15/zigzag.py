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


# %% setup
import torch

# %% wrong: the chunk from the end is in reverse order
def zigzag(L, P):
    c = L // (2 * P)
    positions = torch.stack([
        torch.cat([torch.arange(r * c, (r + 1) * c), torch.arange(L - 1 - r * c, L - 1 - (r + 1) * c, -1)])
        for r in range(P)])
    return positions, positions.flatten().argsort()

# %% wrong: inverse is the order itself
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.flatten()

# %% wrong: the second chunk is r + P, not from the end
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:]], dim=1)
    return positions, positions.flatten().argsort()

# %% wrong: single tokens instead of chunks, from the front and from the end
def zigzag(L, P):
    half = L // (2 * P)
    rows = []
    for r in range(P):
        front = [r + i * P for i in range(half)]
        back = [L - 1 - p for p in reversed(front)]
        rows.append(front + back)
    positions = torch.tensor(rows)
    return positions, torch.argsort(positions.flatten())

# %% wrong: stacks the two chunks so that their tokens alternate; right for chunks of one token
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.stack([chunks[:P], chunks[P:].flip(0)], dim=-1).flatten(1)
    return positions, positions.flatten().argsort()

# %% wrong: the chunk from the end comes first
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[P:].flip(0), chunks[:P]], dim=1)
    return positions, positions.flatten().argsort()

# %% wrong: tokens in a row, P chunks
def zigzag(L, P):
    positions = torch.arange(L).view(P, -1)
    return positions, positions.flatten().argsort()

# %% wrong: rank r gets chunks 2r and 2r+1 counted alternately from both ends (0 and 1 to rank 0): a snake over ranks
def zigzag(L, P):
    c = L // (2 * P)
    positions = []
    for r in range(P):
        a, b = (2 * r) * c, (2 * P - 1 - 2 * r) * c
        positions.append(list(range(a, a + c)) + list(range(b, b + c)))
    positions = torch.tensor(positions)
    return positions, positions.flatten().argsort()

# %% wrong: inverse sorts each row by itself, shape (P, L / P) flattened
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.argsort(dim=-1).flatten()

# %% wrong: inverse has shape (P, L / P)
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    inverse = torch.empty(L, dtype=torch.long)
    inverse[positions.flatten()] = torch.arange(L)
    return positions, inverse.view(P, -1)

# %% wrong: sorts and returns the sorted values instead of their places
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    inverse, _ = torch.sort(positions.flatten())
    return positions, inverse

# %% wrong: inverse in descending order
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.flatten().argsort(descending=True)

# %% wrong: off by one at the end: chunk 2P - r instead of 2P - 1 - r, taken modulo 2P
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    r = torch.arange(P)
    positions = torch.cat([chunks[r], chunks[(2 * P - r) % (2 * P)]], dim=1)
    return positions, positions.flatten().argsort()

# %% wrong: positions as floats
def zigzag(L, P):
    positions = torch.zeros(P, L // P)
    c = L // (2 * P)
    for r in range(P):
        positions[r, :c] = torch.arange(r * c, (r + 1) * c)
        positions[r, c:] = torch.arange(L - (r + 1) * c, L - r * c)
    return positions, positions.flatten().argsort()

# %% wrong: slices from the end without the factor c, so the second chunk is right only for chunks of one token
def zigzag(L, P):
    c = L // (2 * P)
    x = torch.arange(L)
    rows = []
    for r in range(P):
        start = L - (r + 1) - (c - 1)
        rows.append(torch.cat([x[r * c:(r + 1) * c], x[start:start + c]]))
    positions = torch.stack(rows)
    return positions, positions.flatten().argsort()

# %% wrong: writes the inverse from the wrong side, inverse = arange[positions]
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    inverse = torch.empty(L, dtype=torch.long)
    inverse[torch.arange(L)] = positions.flatten()
    return positions, inverse

# %% wrong: mirrored inverse formula that is right for chunks of one token only
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    inverse = []
    for p in range(L):
        inverse.append(2 * p if p < L // 2 else 2 * (L - 1 - p) + 1)
    return positions, torch.tensor(inverse)

# %% wrong: (L, P) instead of (P, L / P): a column for each rank
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions.T, positions.flatten().argsort()

# %% wrong: inverse of the transposed order
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.T.flatten().argsort()

# %% two mistakes: the chunk from the end reversed, and the inverse is the order itself
def zigzag(L, P):
    half = L // 2
    x = torch.arange(L)
    positions = torch.cat([x[:half].view(P, -1), x.flip(0)[:half].view(P, -1)], dim=1)
    return positions, positions.flatten()

# %% two mistakes: chunk r + P, and the inverse in the shape of positions
def zigzag(L, P):
    chunks = torch.arange(L).view(2, P, -1)
    positions = chunks.transpose(0, 1).reshape(P, -1)
    return positions, positions.flatten().argsort().view(P, -1)

# %% right: chunks in a table, flip, argsort
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.flatten().argsort()

# %% right: Python lists, and a loop that writes each place; returns a list
def zigzag(L, P):
    c = L // 2 // P
    rows = [[*range(r * c, r * c + c), *range(L - r * c - c, L - r * c)] for r in range(P)]
    inverse = [0] * L
    for place, position in enumerate(sum(rows, [])):
        inverse[position] = place
    return [torch.tensor(rows), torch.tensor(inverse)]

# %% right: formulas alone, without any order
def zigzag(L, P):
    c = L // (2 * P)
    r = torch.arange(P)[:, None]
    j = torch.arange(2 * c)
    positions = torch.where(j < c, r * c + j, (2 * P - 1 - r) * c + j - c)
    p = torch.arange(L)
    chunk, offset = p // c, p % c
    inverse = torch.where(chunk < P, chunk * 2 * c + offset, (2 * P - 1 - chunk) * 2 * c + c + offset)
    return positions, inverse

# %% right: sorts the rank of each position stably (the rank of a position is min(chunk, 2P - 1 - chunk))
def zigzag(L, P):
    chunk = torch.arange(L) // (L // (2 * P))
    rank = torch.minimum(chunk, 2 * P - 1 - chunk)
    order = torch.sort(rank, stable=True).indices
    return order.view(P, L // P), torch.empty_like(order).scatter_(0, order, torch.arange(L))

# %% right: a permutation matrix, its transpose gives the inverse; int32 positions
def zigzag(L, P):
    c = L // (2 * P)
    blocks = torch.arange(L, dtype=torch.int32).split(c)
    positions = torch.stack([torch.cat((blocks[i], blocks[~i])) for i in range(P)])
    matrix = positions.flatten()[:, None] == torch.arange(L)
    return positions, matrix.T.int().argmax(dim=1)

# %% right: fills a table of shape (P, 2, c), and an argsort of an argsort of an argsort
def zigzag(L, P):
    c = L // (2 * P)
    positions = torch.empty(P, 2, c, dtype=torch.int64)
    positions[:, 0] = torch.arange(L // 2).reshape(P, c)
    positions[:, 1] = torch.arange(L // 2, L).reshape(P, c).flip(0)
    positions = positions.reshape(P, -1)
    rank_of = positions.view(-1).argsort().argsort().argsort()
    return positions, rank_of


# %% setup
import torch

# %% right: inverse in int32 alone
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.flatten().argsort().int()

# %% wrong: lists of lists instead of tensors
def zigzag(L, P):
    c = L // (2 * P)
    rows = [list(range(r * c, r * c + c)) + list(range(L - r * c - c, L - r * c)) for r in range(P)]
    flat = sum(rows, [])
    return rows, [flat.index(p) for p in range(L)]

# %% wrong: inverse by sorting the float of digits (as strings), right up to 10 tokens
def zigzag(L, P):
    c = L // (2 * P)
    rows = [list(range(r * c, r * c + c)) + list(range(L - r * c - c, L - r * c)) for r in range(P)]
    flat = sum(rows, [])
    inverse = sorted(range(L), key=lambda i: str(flat[i]))
    return torch.tensor(rows), torch.tensor(inverse)

# %% wrong: inverse applied twice: argsort of argsort
def zigzag(L, P):
    chunks = torch.arange(L).view(2 * P, -1)
    positions = torch.cat([chunks[:P], chunks[P:].flip(0)], dim=1)
    return positions, positions.flatten().argsort().argsort()

# %% wrong: odd chunks reversed: boustrophedon, rank r gets chunks r and r + P, flipped along both axes
def zigzag(L, P):
    chunks = torch.arange(L).view(2, P, -1)
    positions = torch.cat([chunks[0], chunks[1].flip((0, 1))], dim=1)
    return positions, positions.flatten().argsort()
