# %% setup
import torch
import torch.nn.functional as F

# %% wrong: the keys are not divided by their lengths, so it ranks by the dot product
def nearest(query, keys, k):
    scores = keys @ (query / query.norm())
    return scores.topk(k).indices

# %% wrong: ranks by the absolute value of the cosine, so opposite keys count as near
def nearest(query, keys, k):
    cosines = F.normalize(keys, dim=-1) @ F.normalize(query, dim=0)
    return cosines.abs().argsort(descending=True)[:k]

# %% wrong: the best k are returned in the wrong order, the best last
def nearest(query, keys, k):
    cosines = F.normalize(keys, dim=-1) @ F.normalize(query, dim=0)
    return torch.argsort(cosines)[-k:]

# %% wrong: the result is squeezed, so for k = 1 it has shape () instead of (1,)
def nearest(query, keys, k):
    cosines = F.normalize(keys, dim=-1) @ F.normalize(query, dim=0)
    return torch.topk(cosines, k).indices.squeeze()

# %% right: k times argmax, the winner struck out with -inf each time
def nearest(query, keys, k):
    cosines = (F.normalize(keys, dim=1) @ F.normalize(query, dim=0)).clone()
    best = []
    for _ in range(k):
        winner = int(cosines.argmax())
        best.append(winner)
        cosines[winner] = -float("inf")
    return torch.tensor(best, dtype=torch.int64)

# %% right: the query's length is left out since it does not change the order; Python's sorted does the ranking
def nearest(query, keys, k):
    scores = ((keys / keys.norm(dim=1, keepdim=True)) * query).sum(dim=1).tolist()
    order = sorted(range(len(scores)), key=lambda row: -scores[row])
    return torch.tensor(order[:k])
