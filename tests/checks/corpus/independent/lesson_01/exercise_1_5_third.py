# %% setup
import torch
import torch.nn.functional as F


# %% wrong: sets the similarity of a row that was chosen to 0, so when only negative similarities are left the same row is chosen again
def nearest(query, keys, k):
    similarities = F.normalize(keys, dim=-1) @ F.normalize(query, dim=0)
    chosen = []
    for _ in range(k):
        best = similarities.argmax()
        chosen.append(best)
        similarities[best] = 0
    return torch.stack(chosen)


# %% wrong: divides by the squared length of the keys, which favors short keys
def nearest(query, keys, k):
    similarities = keys @ query / (keys * keys).sum(dim=1)
    return similarities.topk(k).indices


# %% wrong: takes the last k of the ascending order, so the right rows come worst first
def nearest(query, keys, k):
    similarities = keys @ query / (keys.norm(dim=1) * query.norm())
    return similarities.argsort()[-k:]


# %% wrong: measures the length of a key by the sum of its absolute coordinates
def nearest(query, keys, k):
    lengths = keys.abs().sum(dim=1)
    return torch.topk(keys @ query / lengths, k).indices


# %% right: sorts the row numbers in Python by the dot product over the length, largest first
def nearest(query, keys, k):
    scores = ((keys @ query) / keys.norm(dim=1)).tolist()
    rows = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    return torch.tensor(rows[:k], dtype=torch.int64)


# %% right: chooses the best row again and again and sets its similarity to minus infinity
def nearest(query, keys, k):
    left = torch.einsum("d,kd->k", query / query.norm(), keys) / keys.norm(dim=-1)
    chosen = torch.empty(k, dtype=torch.long)
    for place in range(k):
        chosen[place] = left.argmax()
        left[chosen[place]] = -torch.inf
    return chosen
