# %% setup
import math

import torch

# %% wrong: brings the entropy itself to the count, not e to the entropy
def temperature_for(scores, count):
    low, high = torch.full((len(scores),), 0.01), torch.full((len(scores),), 100.0)
    for _ in range(60):
        t = (low * high).sqrt()
        h = torch.special.entr(torch.softmax(scores / t[:, None], -1)).sum(-1)
        low, high = torch.where(h < count, t, low), torch.where(h < count, high, t)
    return t

# %% wrong: searches for the factor that multiplies the scores, and returns that
def temperature_for(scores, count):
    low, high = torch.full((len(scores),), 0.01), torch.full((len(scores),), 100.0)
    for _ in range(60):
        f = (low * high).sqrt()
        k = torch.special.entr(torch.softmax(scores * f[:, None], -1)).sum(-1).exp()
        low, high = torch.where(k > count, f, low), torch.where(k > count, high, f)
    return f

# %% wrong: the search moves the wrong end, and runs away to one side
def temperature_for(scores, count):
    low, high = torch.full((len(scores),), 0.01), torch.full((len(scores),), 100.0)
    for _ in range(60):
        t = (low * high).sqrt()
        k = torch.special.entr(torch.softmax(scores / t[:, None], -1)).sum(-1).exp()
        low, high = torch.where(k > count, t, low), torch.where(k > count, high, t)
    return t

# %% wrong: tries a hundred temperatures and takes the closest, which is right to one digit or two
def temperature_for(scores, count):
    tried = torch.logspace(-2, 2, 100)
    weights = torch.softmax(scores[None] / tried[:, None, None], -1)
    keys = torch.special.entr(weights).sum(-1).exp()
    return tried[(keys - count).abs().argmin(0)]

# %% wrong: starts from 1, so low temperatures are never found
def temperature_for(scores, count):
    low, high = torch.ones(len(scores)), torch.full((len(scores),), 100.0)
    for _ in range(60):
        t = (low + high) / 2
        k = torch.special.entr(torch.softmax(scores / t[:, None], -1)).sum(-1).exp()
        low, high = torch.where(k < count, t, low), torch.where(k < count, high, t)
    return t

# %% two mistakes: the entropy is brought to the count, and the factor is returned in the place of the temperature
def temperature_for(scores, count):
    low, high = torch.full((len(scores),), 0.01), torch.full((len(scores),), 100.0)
    for _ in range(60):
        t = (low * high).sqrt()
        h = torch.special.entr(torch.softmax(scores / t[:, None], -1)).sum(-1)
        low, high = torch.where(h < count, t, low), torch.where(h < count, high, t)
    return 1 / t

# %% two mistakes: one over the sum of squares counts the keys, and the search ends after nine steps
def temperature_for(scores, count):
    low, high = torch.full((len(scores),), math.log(0.01)), torch.full((len(scores),), math.log(100))
    for _ in range(9):
        t = (low + high) / 2
        k = 1 / (torch.softmax(scores / t.exp()[:, None], -1) ** 2).sum(-1)
        low, high = torch.where(k < count, t, low), torch.where(k < count, high, t)
    return high.exp()

# %% wrong: the best of two hundred temperatures, not right to three digits
def temperature_for(scores, count):
    tried = torch.logspace(-2, 2, 200, dtype=scores.dtype)
    w = torch.softmax(scores[:, None] / tried[:, None], dim=-1)
    keys = torch.special.entr(w).sum(-1).exp()
    return tried[(keys - count).abs().argmin(dim=-1)]

# %% right: a grid of many thousand temperatures, then the closest
def temperature_for(scores, count):
    tried = torch.logspace(-2, 2, 20001)
    found = []
    for row in scores:
        logs = torch.log_softmax(row / tried[:, None], dim=-1)
        entropy = -(logs.exp() * logs).sum(-1)
        found.append(tried[torch.searchsorted(entropy.exp().cummax(0).values, count).clamp(max=20000)])
    return torch.stack(found)

# %% right: halves the range of the temperature itself, many times, for all rows at once
def temperature_for(scores, count):
    low, high = scores.new_full((scores.shape[0], 1), 0.01), scores.new_full((scores.shape[0], 1), 100.0)
    for _ in range(80):
        t = 0.5 * (low + high)
        w = torch.nn.functional.softmax(scores / t, dim=1)
        entropy = -torch.xlogy(w, w).sum(1, keepdim=True)
        enough = entropy >= math.log(count)
        high[enough] = t[enough]
        low[~enough] = t[~enough]
    return high.squeeze(1)

# %% setup
import math

import torch


def counting(scores, T):
    p = torch.softmax(scores / T[..., None], dim=-1)
    return torch.exp(-torch.xlogy(p, p).sum(dim=-1))

# %% wrong: halves the range itself only 12 times, which leaves an uncertainty of 0.02
def temperature_for(scores, count):
    low, high = torch.full_like(scores[:, 0], 0.01), torch.full_like(scores[:, 0], 100)
    for _ in range(12):
        mid = (low + high) / 2
        few = counting(scores, mid) < count
        low, high = torch.where(few, mid, low), torch.where(few, high, mid)
    return (low + high) / 2

# %% right: 64 temperatures at once for every row, then again between the two neighbors found
def temperature_for(scores, count):
    s = scores.double()
    low = torch.full((len(s), 1), math.log(0.01), dtype=s.dtype)
    high = torch.full_like(low, math.log(100))
    steps = torch.linspace(0, 1, 64, dtype=s.dtype)
    for _ in range(6):
        t = low + (high - low) * steps
        few = (counting(s[:, None], t.exp()) < count).sum(dim=1, keepdim=True)
        low = t.gather(1, (few - 1).clamp(min=0))
        high = t.gather(1, few.clamp(max=63))
    return ((low + high) / 2).exp().squeeze(1).to(scores.dtype)

# %% setup
import math
import torch

def how_many(row, T):
    top = max(row)
    e = [math.exp((s - top) / T) for s in row]
    return math.exp(-sum(x / sum(e) * math.log(x / sum(e)) for x in e if x > 0))

# %% wrong: a search in plain numbers that waits for count to be met exactly, and never ends where it cannot be
def temperature_for(scores, count):
    found = []
    for row in scores.tolist():
        low, high = 0.01, 100.0
        while abs(how_many(row, T := math.sqrt(low * high)) - count) > 1e-6:
            low, high = (T, high) if how_many(row, T) < count else (low, T)
        found.append(T)
    return torch.tensor(found)

# %% right: row by row in plain numbers, 60 halvings each
def temperature_for(scores, count):
    found = []
    for row in scores.tolist():
        low, high = math.log(0.01), math.log(100)
        for _ in range(60):
            middle = (low + high) / 2
            if how_many(row, math.exp(middle)) < count:
                low = middle
            else:
                high = middle
        found.append(math.exp(high))
    return torch.tensor(found)
