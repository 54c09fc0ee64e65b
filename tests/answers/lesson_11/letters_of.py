# %% setup
import torch

# %% wrong: takes the largest weight at each step among the letters still allowed
def letters_of(weights):
    mean = weights.mean(dim=(0, 1))[:-1]
    place, out = 0, []
    for row in mean:
        place = place + int(row[place:].argmax())
        out.append(place)
    return torch.tensor(out)

# %% wrong: takes the largest weight of each row, which may go back
def letters_of(weights):
    return weights.mean(dim=(0, 1))[:-1].argmax(dim=-1)

# %% wrong: repairs the largest weights by a running maximum of their places
def letters_of(weights):
    places = weights.mean(dim=(0, 1))[:-1].argmax(dim=-1)
    return torch.cummax(places, dim=0).values

# %% wrong: sorts the places of the largest weights
def letters_of(weights):
    places = weights.mean(dim=(0, 1))[:-1].argmax(dim=-1)
    return places.sort().values

# %% wrong: keeps the row of the end symbol during the search and drops its letter at the end
def letters_of(weights):
    w = weights.mean(dim=(0, 1))
    best, back = w[0], []
    for row in w[1:]:
        top, where = torch.cummax(best, dim=0)
        back.append(where)
        best = top + row
    j = int(best.argmax())
    path = [j]
    for where in reversed(back):
        j = int(where[j])
        path.append(j)
    return torch.tensor(path[::-1])[:-1]

# %% wrong: returns a letter for the end symbol too
def letters_of(weights):
    w = weights.mean(dim=(0, 1))
    best, back = w[0], []
    for row in w[1:]:
        top, where = torch.cummax(best, dim=0)
        back.append(where)
        best = top + row
    j = int(best.argmax())
    path = [j]
    for where in reversed(back):
        j = int(where[j])
        path.append(j)
    return torch.tensor(path[::-1])

# %% wrong: each sound must take a letter strictly further right than the sound before
def letters_of(weights):
    w = weights.mean(dim=(0, 1))[:-1]
    T, S = w.shape
    score = torch.full((T, S), float("-inf"))
    back = torch.zeros(T, S, dtype=torch.long)
    score[0] = w[0]
    for t in range(1, T):
        for s in range(1, S):
            prev = score[t - 1, :s]
            back[t, s] = prev.argmax()
            score[t, s] = prev.max() + w[t, s]
    path = [int(score[-1].argmax())]
    for t in range(T - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return torch.tensor(path[::-1])

# %% wrong: each sound takes the letter of the sound before or the next one, no letter is skipped
def letters_of(weights):
    w = weights.mean(dim=(0, 1))[:-1]
    T, S = w.shape
    score = w.clone()
    back = torch.zeros(T, S, dtype=torch.long)
    for t in range(1, T):
        for s in range(S):
            options = [s] if s == 0 else [s, s - 1]
            k = max(options, key=lambda o: float(score[t - 1, o]))
            back[t, s] = k
            score[t, s] = w[t, s] + score[t - 1, k]
    path = [int(score[-1].argmax())]
    for t in range(T - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return torch.tensor(path[::-1])

# %% wrong: the largest product of the weights (sum of logarithms) instead of the largest sum
def letters_of(weights):
    w = weights.mean(dim=(0, 1))[:-1].clamp(min=1e-12).log()
    best, back = w[0], []
    for row in w[1:]:
        top, where = torch.cummax(best, dim=0)
        back.append(where)
        best = top + row
    path = [int(best.argmax())]
    for where in reversed(back):
        path.append(int(where[path[-1]]))
    return torch.tensor(path[::-1])

# %% wrong: the largest weight over all layers and heads instead of the mean
def letters_of(weights):
    w = weights.amax(dim=(0, 1))[:-1]
    best, back = w[0], []
    for row in w[1:]:
        top, where = torch.cummax(best, dim=0)
        back.append(where)
        best = top + row
    path = [int(best.argmax())]
    for where in reversed(back):
        path.append(int(where[path[-1]]))
    return torch.tensor(path[::-1])

# %% wrong: looks at the last layer only, the mean of its heads
def letters_of(weights):
    w = weights[-1].mean(dim=0)[:-1]
    best, back = w[0], []
    for row in w[1:]:
        top, where = torch.cummax(best, dim=0)
        back.append(where)
        best = top + row
    path = [int(best.argmax())]
    for where in reversed(back):
        path.append(int(where[path[-1]]))
    return torch.tensor(path[::-1])

# %% wrong: goes from left to right with the sums, but reads each sound's letter off as the largest sum of its row, without going back through the noted places
def letters_of(weights):
    w = weights.mean(dim=(0, 1))[:-1]
    best = w[0]
    out = [int(best.argmax())]
    for row in w[1:]:
        best = torch.cummax(best, dim=0).values + row
        out.append(int(best.argmax()))
    return torch.tensor(out)

# %% wrong: the path starts its way back at the last letter instead of the best end
def letters_of(weights):
    w = weights.mean(dim=(0, 1))[:-1]
    best, back = w[0], []
    for row in w[1:]:
        top, where = torch.cummax(best, dim=0)
        back.append(where)
        best = top + row
    path = [w.shape[1] - 1]
    for where in reversed(back):
        path.append(int(where[path[-1]]))
    return torch.tensor(path[::-1])

# %% wrong: returns the path in the order in which it was traced, last sound first
def letters_of(weights):
    w = weights.mean(dim=(0, 1))[:-1]
    best, back = w[0], []
    for row in w[1:]:
        top, where = torch.cummax(best, dim=0)
        back.append(where)
        best = top + row
    path = [int(best.argmax())]
    for where in reversed(back):
        path.append(int(where[path[-1]]))
    return torch.tensor(path)

# %% wrong: fixes the surest sound first, then the rest between the letters already given
def letters_of(weights):
    w = weights.mean(dim=(0, 1))[:-1]
    T, S = w.shape
    out = [None] * T
    for t in w.amax(dim=-1).argsort(descending=True).tolist():
        low = max([out[i] for i in range(t) if out[i] is not None], default=0)
        high = min([out[i] for i in range(t + 1, T) if out[i] is not None], default=S - 1)
        out[t] = low + int(w[t, low : high + 1].argmax())
    return torch.tensor(out)

# %% wrong: greedy from the last sound to the first, among the letters not further right
def letters_of(weights):
    w = weights.mean(dim=(0, 1))[:-1]
    limit, out = w.shape[1], []
    for row in w.flip(0):
        place = int(row[:limit].argmax())
        out.append(place)
        limit = place + 1
    return torch.tensor(out[::-1])

# %% wrong: gives floating-point numbers
def letters_of(weights):
    w = weights.mean(dim=(0, 1))[:-1]
    best, back = w[0], []
    for row in w[1:]:
        top, where = torch.cummax(best, dim=0)
        back.append(where)
        best = top + row
    out = torch.zeros(len(w))
    out[-1] = best.argmax()
    for t in range(len(w) - 2, -1, -1):
        out[t] = back[t][int(out[t + 1])]
    return out

# %% two mistakes: takes the largest weight among the letters still allowed, and in the last layer only
def letters_of(weights):
    w = weights[-1].mean(dim=0)[:-1]
    place, out = 0, []
    for row in w:
        place += int(row[place:].argmax())
        out.append(place)
    return torch.tensor(out)

# %% two mistakes: leaves out the first row instead of the last, and letters must move strictly to the right
def letters_of(weights):
    w = weights.mean(dim=(0, 1))[1:]
    T, S = w.shape
    score = torch.full((T, S), float("-inf"))
    back = torch.zeros(T, S, dtype=torch.long)
    score[0] = w[0]
    for t in range(1, T):
        for s in range(1, S):
            back[t, s] = score[t - 1, :s].argmax()
            score[t, s] = score[t - 1, :s].max() + w[t, s]
    path = [int(score[-1].argmax())]
    for t in range(T - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return torch.tensor(path[::-1])

# %% right: remembers, by recursion, the best sum and path from a sound and a letter on
from functools import lru_cache

def letters_of(weights):
    w = weights.mean(dim=(0, 1))[:-1].tolist()
    T, S = len(w), len(w[0])

    @lru_cache(maxsize=None)
    def best(t, s):
        if t == T:
            return 0.0, ()
        if s == S:
            return float("-inf"), ()
        total, rest = best(t + 1, s)
        here = (w[t][s] + total, (s, *rest))
        return max(here, best(t, s + 1), key=lambda one: one[0])

    return torch.tensor(best(0, 0)[1])

# %% right: from the last sound backwards, with whole paths kept in a list, one for each letter
def letters_of(weights):
    rows = weights.double().flatten(0, 1).mean(0)[:-1]
    S = rows.shape[1]
    kept = [(0.0, [])] * S
    for row in reversed(rows.tolist()):
        new = [(row[s] + kept[s][0], [s] + kept[s][1]) for s in range(S)]
        for s in range(S - 2, -1, -1):
            if new[s + 1][0] > new[s][0]:
                new[s] = new[s + 1]
        kept = new
    return torch.tensor(kept[0][1], dtype=torch.int32)

# %% right: a matrix of allowed moves (minus infinity to the left) added to the sums, and a max over it
def letters_of(weights):
    w = weights.mean(dim=[0, 1])[:-1]
    T, S = w.shape
    forbidden = torch.where(torch.ones(S, S).tril(-1).bool(), float("-inf"), 0.0).to(w)
    total, back = w[0], torch.zeros(T, S, dtype=torch.long)
    for t in range(1, T):
        value, back[t] = (total[:, None] + forbidden).max(dim=0)
        total = value + w[t]
    out = torch.empty(T, dtype=torch.long)
    out[-1] = total.argmax()
    for t in range(T - 1, 0, -1):
        out[t - 1] = back[t, out[t]]
    return out

# %% right: by borders, the letter s belongs to the sounds from border[s] to border[s + 1]; sums of columns
def letters_of(weights):
    w = weights.mean(1).mean(0)[:-1].double()
    T, S = w.shape
    sums = torch.cat([torch.zeros(1, S, dtype=w.dtype), w.cumsum(0)])  # (T + 1, S)
    best = [(float(sums[t, 0]), [0] * t) for t in range(T + 1)]
    for s in range(1, S):
        best = [
            max(
                ((best[a][0] + float(sums[t, s] - sums[a, s]), best[a][1] + [s] * (t - a)) for a in range(t + 1)),
                key=lambda one: one[0],
            )
            for t in range(T + 1)
        ]
    return torch.tensor(best[T][1])
