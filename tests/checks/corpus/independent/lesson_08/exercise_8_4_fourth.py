# %% setup
import torch


# %% right: remembers the first score of each distance
def distance_only(score, length):
    first = {}
    for m in range(length):
        for n in range(length):
            if abs(score(m, n) - first.setdefault(m - n, score(m, n))) > 3e-4:
                return False
    return True


# %% right: diagonals of the whole table
def distance_only(score, length):
    table = torch.tensor([[float(score(m, n)) for n in range(length)] for m in range(length)], dtype=torch.float64)
    return all(
        bool((table.diagonal(d).max() - table.diagonal(d).min()) < 5e-4) for d in range(1 - length, length)
    )


# %% wrong: takes the distance as if it had no sign, so left and right must be equal
def distance_only(score, length):
    first = {}
    for m in range(length):
        for n in range(length):
            if abs(score(m, n) - first.setdefault(abs(m - n), score(m, n))) > 1e-4:
                return False
    return True


# %% wrong: causal pairs only, those with n up to m
def distance_only(score, length):
    for m in range(1, length):
        for n in range(1, m + 1):
            if abs(score(m, n) - score(m - 1, n - 1)) > 1e-4:
                return False
    return True


# %% wrong: compares with the score at the edge of the table only for the first row
def distance_only(score, length):
    return all(abs(score(m, m) - score(0, 0)) < 1e-4 for m in range(length)) and all(
        abs(score(m, m - 1) - score(1, 0)) < 1e-4 for m in range(1, length)
    )


# %% wrong: exact comparison
def distance_only(score, length):
    return all(
        score(m, n) == score(m + 1, n + 1) for m in range(length - 1) for n in range(length - 1)
    )


# %% wrong: torch's allclose on rows, whose relative tolerance is too generous for nothing but near zero is too strict
def distance_only(score, length):
    for m in range(1, length):
        for n in range(1, length):
            a, b = score(m, n), score(m - 1, n - 1)
            if abs(a - b) > 1e-5 * max(abs(a), abs(b)):
                return False
    return True
