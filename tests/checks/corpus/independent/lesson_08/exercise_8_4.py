# %% setup
import torch

# %% wrong: compares with ==, so scores that differ only by rounding count as different
def distance_only(score, length):
    seen = {}
    for m in range(length):
        for n in range(length):
            if seen.setdefault(m - n, score(m, n)) != score(m, n):
                return False
    return True


# %% wrong: treats the distance without its sign and demands the same score for m - n and n - m
def distance_only(score, length):
    first = {}
    for m in range(length):
        for n in range(length):
            d = abs(m - n)
            if d not in first:
                first[d] = score(m, n)
            if abs(first[d] - score(m, n)) > 1e-5:
                return False
    return True


# %% wrong: looks only at keys at or before the query (n <= m), so a break at a later key is not seen
def distance_only(score, length):
    for m in range(length - 1):
        for n in range(m + 1):
            if abs(score(m + 1, n + 1) - score(m, n)) > 1e-5:
                return False
    return True


# %% wrong: compares every diagonal only with its shift by one at the beginning, so a break further down a diagonal is not seen
def distance_only(score, length):
    for d in range(length - 1):
        if abs(score(d, 0) - score(d + 1, 1)) > 1e-5:
            return False
        if abs(score(0, d) - score(1, d + 1)) > 1e-5:
            return False
    return True


# %% wrong: stops one position early, so pairs with the last position are never tested
def distance_only(score, length):
    table = torch.tensor([[score(m, n) for n in range(length - 1)] for m in range(length - 1)])
    for offset in range(-(length - 2), length - 1):
        diagonal = table.diagonal(offset)
        if not torch.allclose(diagonal, diagonal[0].expand_as(diagonal), atol=1e-5):
            return False
    return True


# %% wrong: tests whether a remembered score is truthy, so a remembered 0.0 counts as not remembered and a single break at the end of a diagonal of zeros is not seen
def distance_only(score, length):
    remembered = {}
    for m in range(length):
        for n in range(length):
            value = score(m, n)
            if remembered.get(m - n):
                if abs(remembered[m - n] - value) > 1e-5:
                    return False
            else:
                remembered[m - n] = value
    return True


# %% two mistakes: returns True after the first distance that is fine instead of after all; and compares with ==, so rounding counts as a difference
def distance_only(score, length):
    for d in range(length):
        scores = {score(n + d, n) for n in range(length - d)}
        if len(scores) != 1:
            return False
        return True


# %% right: collects all scores of a distance and compares the largest with the smallest
def distance_only(score, length):
    from collections import defaultdict

    groups = defaultdict(list)
    for m in range(length):
        for n in range(length):
            groups[m - n].append(float(score(m, n)))
    return all(max(g) - min(g) <= 1e-5 * max(1.0, abs(max(g)), abs(min(g))) for g in groups.values())


# %% right: a whole table and its shift by one, compared at once in float64
def distance_only(score, length):
    rows = [[score(m, n) for n in range(length)] for m in range(length)]
    table = torch.tensor(rows, dtype=torch.float64)
    return bool(torch.allclose(table[1:, 1:], table[:-1, :-1], rtol=1e-5, atol=1e-5))


# %% right: compares with the scores of row 0 and column 0, using math.isclose with both tolerances
def distance_only(score, length):
    import math

    return not any(
        not math.isclose(score(m, n), score(m - min(m, n), n - min(m, n)), rel_tol=1e-5, abs_tol=1e-5)
        for m in range(length)
        for n in range(length)
    )
