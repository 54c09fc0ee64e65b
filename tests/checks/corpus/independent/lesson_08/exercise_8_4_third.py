# %% setup
import torch


# %% wrong: rounds every score to four digits and compares exactly, so two scores a millionth apart on either side of a rounding border count as different
def distance_only(score, length):
    seen = {}
    for m in range(length):
        for n in range(length):
            value = round(float(score(m, n)), 4)
            if seen.setdefault(m - n, value) != value:
                return False
    return True


# %% wrong: compares only the first and the last score of each diagonal, so a pair in the middle that breaks the rule is not seen
def distance_only(score, length):
    for d in range(-(length - 1), length):
        first = (max(d, 0), max(-d, 0))
        steps = length - 1 - abs(d)
        last = (first[0] + steps, first[1] + steps)
        if abs(score(*first) - score(*last)) > 1e-4:
            return False
    return True


# %% wrong: asks whether the standard deviation along each diagonal is below 0.0005, so a single score that is off by 0.001 in a longer diagonal passes
def distance_only(score, length):
    table = torch.tensor([[float(score(m, n)) for n in range(length)] for m in range(length)], dtype=torch.float64)
    for d in range(-length + 1, length):
        if table.diagonal(d).std(unbiased=False) > 0.0005:
            return False
    return True


# %% right: torch.allclose with atol=1e-5 and the default rtol=1e-5, which stays below a thousandth for scores up to 50
def distance_only(score, length):
    table = torch.tensor([[float(score(m, n)) for n in range(length)] for m in range(length)], dtype=torch.float64)
    return torch.allclose(table[1:, 1:], table[:-1, :-1], atol=1e-5)


# %% two mistakes: compares only keys that do not stand behind the query (n <= m); and allows differences relative to the scores (rtol 1e-4), too generous for large scores
def distance_only(score, length):
    for m in range(1, length):
        for n in range(1, m + 1):
            now, before = score(m, n), score(m - 1, n - 1)
            if abs(now - before) > 1e-5 + 1e-4 * abs(now):
                return False
    return True


# %% right: collects the scores of each signed distance in a dictionary and looks at the gap between the largest and the smallest
def distance_only(score, length):
    by_distance = {}
    for m in range(length):
        for n in range(length):
            by_distance.setdefault(m - n, []).append(float(score(m, n)))
    return all(max(scores) - min(scores) < 1e-4 for scores in by_distance.values())


# %% right: predicts the whole float64 table from its first column and first row and compares with an absolute tolerance
def distance_only(score, length):
    table = torch.tensor([[float(score(m, n)) for n in range(length)] for m in range(length)], dtype=torch.float64)
    one_each = torch.cat([table[0].flip(0), table[1:, 0]])  # distances -(length - 1) ... length - 1
    position = torch.arange(length)
    wanted = one_each[position[:, None] - position + length - 1]
    return bool(torch.isclose(table, wanted, rtol=0.0, atol=1e-4).all())
