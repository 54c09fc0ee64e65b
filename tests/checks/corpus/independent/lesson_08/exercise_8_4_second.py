# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: compares scores for exact equality, so rounding makes relative scores look absolute
def distance_only(score, length):
    seen = {}
    for m in range(length):
        for n in range(length):
            if m - n in seen and seen[m - n] != score(m, n):
                return False
            seen.setdefault(m - n, score(m, n))
    return True


# %% wrong: uses the distance without its sign, so a relative score that differs for m - n and n - m is called absolute
def distance_only(score, length):
    first = {}
    for m in range(length):
        for n in range(length):
            s = score(m, n)
            d = abs(m - n)
            if abs(first.setdefault(d, s) - s) > 1e-4:
                return False
    return True


# %% wrong: looks only at pairs with the query not before the key (n <= m), so a break at a later key is missed
def distance_only(score, length):
    for distance in range(length):
        scores = [score(n + distance, n) for n in range(length - distance)]
        if max(scores) - min(scores) > 1e-4:
            return False
    return True


# %% wrong: the loops stop one position early, so pairs with the last position are never compared
def distance_only(score, length):
    for m in range(length - 1):
        for n in range(length - 1):
            if m > 0 and n > 0 and abs(score(m, n) - score(m - 1, n - 1)) > 1e-4:
                return False
    return True


# %% two mistakes: compares only the diagonal of distance 0 and the ones next to it; and answers the wrong way round (True when it found a difference)
def distance_only(score, length):
    differs = False
    for d in (-1, 0, 1):
        scores = [score(n + d, n) for n in range(length) if 0 <= n + d < length]
        differs = differs or max(scores) - min(scores) > 1e-4
    return differs


# %% right: builds the table in float64 and compares it with itself moved along the diagonal
def distance_only(score, length):
    table = torch.tensor([[float(score(m, n)) for n in range(length)] for m in range(length)], dtype=torch.float64)
    spread = 0.0
    for offset in range(1 - length, length):
        line = torch.diagonal(table, offset)
        spread = max(spread, (line.max() - line.min()).item())
    return spread < 2e-4


# %% right: every score is compared with the one of the same distance at the edge of the table
def distance_only(score, length):
    def edge(d):
        return score(d, 0) if d >= 0 else score(0, -d)

    return all(abs(float(score(m, n)) - float(edge(m - n))) <= 1e-4 for m in range(length) for n in range(length))
