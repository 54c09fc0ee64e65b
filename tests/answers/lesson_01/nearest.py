# %% setup
import torch
import torch.nn.functional as F

# %% wrong: ranks by the dot product instead of the cosine, so long keys win
def nearest(query, keys, k):
    return torch.topk(keys @ query, k).indices

# %% wrong: squeezes the result, so for k = 1 it has no dimension instead of the shape (1,)
def nearest(query, keys, k):
    similarity = (F.normalize(keys, dim=-1) @ F.normalize(query, dim=-1)).unsqueeze(0)
    return similarity.topk(k, dim=-1).indices.squeeze()

# %% two mistakes: sorts in ascending order, so the farthest keys come first; and returns the rows as int32
def nearest(query, keys, k):
    similarity = F.normalize(keys, dim=-1) @ F.normalize(query, dim=-1)
    return similarity.argsort()[:k].to(torch.int32)

# %% wrong: returns the similarities instead of the rows
def nearest(query, keys, k):
    return (F.normalize(keys, dim=1) @ F.normalize(query, dim=0)).topk(k).values

# %% wrong: best last (tail of an ascending sort)
def nearest(query, keys, k):
    return (F.normalize(keys, dim=1) @ query).argsort()[-k:]

# %% wrong: returns the similarities instead of the rows
def nearest(query, keys, k):
    return (F.normalize(keys, dim=1) @ query).topk(k).values

# %% wrong: the k least similar
def nearest(query, keys, k):
    return (F.normalize(keys, dim=1) @ query).topk(k, largest=False).indices

# %% wrong: nearest by Euclidean distance
def nearest(query, keys, k):
    return (keys - query).norm(dim=1).argsort()[:k]

# %% right: takes the best key again and again and crosses it out with minus infinity
def nearest(query, keys, k):
    scores = (keys / torch.linalg.vector_norm(keys, dim=-1, keepdim=True)).mv(query)
    rows = torch.empty(k, dtype=torch.long)
    for n in range(k):
        rows[n] = scores.argmax()
        scores = scores.index_fill(0, rows[n], float("-inf"))
    return rows

# %% right: sorts the row numbers in Python by the dot product over the length, largest first
def nearest(query, keys, k):
    scores = ((keys @ query) / keys.norm(dim=1)).tolist()
    rows = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    return torch.tensor(rows[:k], dtype=torch.int64)

# %% right: distances between unit vectors, smallest first
def nearest(query, keys, k):
    unit = keys / keys.norm(dim=1, keepdim=True)
    return (unit - query / query.norm()).norm(dim=1).argsort()[:k]
