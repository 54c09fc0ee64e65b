# %% setup
import torch

# %% wrong: says True of everything
def distance_only(score, length):
    return True

# %% wrong: exact comparison
def distance_only(score, length):
    return all(
        score(m, n) == score(m + 1, n + 1) for m in range(length - 1) for n in range(length - 1)
    )

# %% two mistakes: returns True after the first distance that is fine instead of after all; and compares with ==, so rounding counts as a difference
def distance_only(score, length):
    for d in range(length):
        scores = {score(n + d, n) for n in range(length - d)}
        if len(scores) != 1:
            return False
        return True

# %% wrong: asks whether the standard deviation along each diagonal is below 0.0005, so a single score that is off by 0.001 in a longer diagonal passes
def distance_only(score, length):
    table = torch.tensor([[float(score(m, n)) for n in range(length)] for m in range(length)], dtype=torch.float64)
    for d in range(-length + 1, length):
        if table.diagonal(d).std(unbiased=False) > 0.0005:
            return False
    return True

# %% two mistakes: compares only keys that do not stand behind the query (n <= m); and allows differences relative to the scores (rtol 1e-4), too generous for large scores
def distance_only(score, length):
    for m in range(1, length):
        for n in range(1, m + 1):
            now, before = score(m, n), score(m - 1, n - 1)
            if abs(now - before) > 1e-5 + 1e-4 * abs(now):
                return False
    return True

# %% wrong: compares with the score at the edge of the table only for the first row
def distance_only(score, length):
    return all(abs(score(m, m) - score(0, 0)) < 1e-4 for m in range(length)) and all(
        abs(score(m, m - 1) - score(1, 0)) < 1e-4 for m in range(1, length)
    )

# %% wrong: a tolerance of a hundredth lets small differences pass
def distance_only(score, length):
    table = torch.tensor([[score(m, n) for n in range(length)] for m in range(length)])
    return bool(((table[1:, 1:] - table[:-1, :-1]).abs() < 0.01).all())

# %% right: compares with the scores of row 0 and column 0, using math.isclose with both tolerances
def distance_only(score, length):
    import math

    return not any(
        not math.isclose(score(m, n), score(m - min(m, n), n - min(m, n)), rel_tol=1e-5, abs_tol=1e-5)
        for m in range(length)
        for n in range(length)
    )

# %% right: torch.allclose with atol=1e-5 and the default rtol=1e-5, which stays below a thousandth for scores up to 50
def distance_only(score, length):
    table = torch.tensor([[float(score(m, n)) for n in range(length)] for m in range(length)], dtype=torch.float64)
    return torch.allclose(table[1:, 1:], table[:-1, :-1], atol=1e-5)

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

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

# %% setup
import math

# %% wrong: math.isclose with rel_tol=1e-4 alone, which has no absolute tolerance
def distance_only(score, length):
    for m in range(1, length):
        for n in range(1, length):
            if not math.isclose(score(m, n), score(m - 1, n - 1), rel_tol=1e-4):
                return False
    return True
