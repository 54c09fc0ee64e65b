# %% setup
import math

import torch

# %% wrong: one temperature for all rows, from the mean of their counts
def temperature_for(scores, count):
    low, high = math.log(0.01), math.log(100)
    for _ in range(50):
        middle = (low + high) / 2
        w = torch.softmax(scores / math.exp(middle), dim=-1)
        keys = torch.special.entr(w).sum(-1).exp().mean()
        if keys < count:
            low = middle
        else:
            high = middle
    return torch.full((len(scores),), math.exp(low), dtype=scores.dtype)

# %% wrong: multiplies the scores, so it gives 1 / T
def temperature_for(scores, count):
    low = torch.full((len(scores),), math.log(0.01), dtype=scores.dtype)
    high = -low
    for _ in range(50):
        middle = (low + high) / 2
        w = torch.softmax(scores * middle.exp()[:, None], dim=-1)
        few = torch.special.entr(w).sum(-1).exp() < count
        high = torch.where(few, middle, high)
        low = torch.where(few, low, middle)
    return low.exp()

# %% wrong: moves the wrong end, so it runs to one of the ends
def temperature_for(scores, count):
    low = torch.full((len(scores),), math.log(0.01), dtype=scores.dtype)
    high = -low
    for _ in range(50):
        middle = (low + high) / 2
        w = torch.softmax(scores / middle.exp()[:, None], dim=-1)
        few = torch.special.entr(w).sum(-1).exp() < count
        high = torch.where(few, middle, high)
        low = torch.where(few, low, middle)
    return low.exp()

# %% wrong: counts keys by one over the sum of the squared weights
def temperature_for(scores, count):
    low = torch.full((len(scores),), math.log(0.01), dtype=scores.dtype)
    high = -low
    for _ in range(50):
        middle = (low + high) / 2
        w = torch.softmax(scores / middle.exp()[:, None], dim=-1)
        few = 1 / (w**2).sum(-1) < count
        low = torch.where(few, middle, low)
        high = torch.where(few, high, middle)
    return low.exp()

# %% wrong: entropy in bits, raised to the power of e
def temperature_for(scores, count):
    low = torch.full((len(scores),), math.log(0.01), dtype=scores.dtype)
    high = -low
    for _ in range(50):
        middle = (low + high) / 2
        w = torch.softmax(scores / middle.exp()[:, None], dim=-1)
        bits = torch.special.entr(w).sum(-1) / math.log(2)
        few = bits.exp() < count
        low = torch.where(few, middle, low)
        high = torch.where(few, high, middle)
    return low.exp()

# %% wrong: w * log(w) is NaN where a weight is 0, and a comparison with NaN is never true
def temperature_for(scores, count):
    low = torch.full((len(scores),), math.log(0.01), dtype=scores.dtype)
    high = -low
    for _ in range(50):
        middle = (low + high) / 2
        w = torch.softmax(scores / middle.exp()[:, None], dim=-1)
        few = (-(w * w.log()).sum(-1)).exp() < count
        low = torch.where(few, middle, low)
        high = torch.where(few, high, middle)
    return low.exp()

# %% wrong: the best of two hundred temperatures, not right to three digits
def temperature_for(scores, count):
    tried = torch.logspace(-2, 2, 200, dtype=scores.dtype)
    w = torch.softmax(scores[:, None] / tried[:, None], dim=-1)
    keys = torch.special.entr(w).sum(-1).exp()
    return tried[(keys - count).abs().argmin(dim=-1)]

# %% wrong: halves the range of the temperature itself, eleven times: too coarse for small ones
def temperature_for(scores, count):
    low = torch.full((len(scores),), 0.01, dtype=scores.dtype)
    high = torch.full_like(low, 100.0)
    for _ in range(11):
        middle = (low + high) / 2
        w = torch.softmax(scores / middle[:, None], dim=-1)
        few = torch.special.entr(w).sum(-1).exp() < count
        low = torch.where(few, middle, low)
        high = torch.where(few, high, middle)
    return (low + high) / 2

# %% two mistakes: one row decides for all (the first); and the logarithm is handed back
def temperature_for(scores, count):
    low, high = math.log(0.01), math.log(100)
    for _ in range(50):
        middle = (low + high) / 2
        w = torch.softmax(scores[0] / math.exp(middle), dim=-1)
        if torch.special.entr(w).sum().exp() < count:
            low = middle
        else:
            high = middle
    return torch.full((len(scores),), low, dtype=scores.dtype)

# %% two mistakes: a softmax down the queries; and the entropy itself is compared with the count
def temperature_for(scores, count):
    low = torch.full((len(scores),), math.log(0.01), dtype=scores.dtype)
    high = -low
    for _ in range(50):
        middle = (low + high) / 2
        w = torch.softmax(scores / middle.exp()[:, None], dim=0)
        few = torch.special.entr(w).sum(-1) < count
        low = torch.where(few, middle, low)
        high = torch.where(few, high, middle)
    return low.exp()

# %% right: halves the range of the temperature itself, sixty times
def temperature_for(scores, count):
    low, high = torch.full_like(scores[:, 0], 0.01), torch.full_like(scores[:, 0], 100.0)
    for _ in range(60):
        middle = (low + high) / 2
        logs = torch.log_softmax(scores / middle.unsqueeze(-1), dim=-1)
        H = -(logs.exp() * logs).sum(-1)
        low, high = torch.where(H < math.log(count), middle, low), torch.where(H < math.log(count), high, middle)
    return high

# %% right: a row at a time in plain floats
def temperature_for(scores, count):
    found = []
    for row in scores.tolist():
        low, high = 0.01, 100.0
        while high / low > 1.00001:
            T = math.sqrt(low * high)
            e = [math.exp((s - max(row)) / T) for s in row]
            H = -sum(x / sum(e) * math.log(x / sum(e)) for x in e if x > 0)
            if math.exp(H) > count:
                high = T
            else:
                low = T
        found.append(math.sqrt(low * high))
    return torch.tensor(found, dtype=scores.dtype)

# %% right: a grid that is made finer around its best point four times
def temperature_for(scores, count):
    low = torch.full((len(scores), 1), -2.0, dtype=torch.float64)
    high = -low
    part = torch.linspace(0, 1, 101, dtype=torch.float64)
    for _ in range(5):
        tried = low + (high - low) * part
        w = (scores.double()[:, None, :] / 10 ** tried[:, :, None]).softmax(-1)
        best = (torch.special.entr(w).sum(-1).exp() - count).abs().argmin(-1, keepdim=True)
        middle, step = tried.gather(1, best), (high - low) / 100
        low, high = (middle - step).clamp(min=-2), (middle + step).clamp(max=2)
    return (10 ** ((low + high) / 2))[:, 0].to(scores.dtype)
