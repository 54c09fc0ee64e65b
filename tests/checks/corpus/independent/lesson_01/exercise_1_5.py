# %% setup
import torch
import torch.nn.functional as F

# %% wrong: ranks by the dot product instead of the cosine, so long keys win
def nearest(query, keys, k):
    return torch.topk(keys @ query, k).indices

# %% wrong: normalizes the keys along the wrong axis (each column over all keys), so the keys do not get length 1
def nearest(query, keys, k):
    keys = F.normalize(keys, dim=0)
    query = F.normalize(query, dim=0)
    return torch.topk(keys @ query, k).indices

# %% wrong: returns the right rows but sorted by row number, not best first
def nearest(query, keys, k):
    similarity = F.normalize(keys, dim=-1) @ F.normalize(query, dim=0)
    return torch.topk(similarity, k).indices.sort().values

# %% wrong: crosses out a key that was taken by setting its cosine to 0, so it can win again over keys with a negative cosine
def nearest(query, keys, k):
    similarity = F.normalize(keys, dim=-1) @ F.normalize(query, dim=0)
    best = []
    for _ in range(k):
        row = int(similarity.argmax())
        best.append(row)
        similarity[row] = 0.0
    return torch.tensor(best)

# %% wrong: squeezes the result, so for k = 1 it has no dimension instead of the shape (1,)
def nearest(query, keys, k):
    similarity = (F.normalize(keys, dim=-1) @ F.normalize(query, dim=-1)).unsqueeze(0)
    return similarity.topk(k, dim=-1).indices.squeeze()

# %% wrong: divides by the squared length of each key (the square root is forgotten), so short keys are preferred
def nearest(query, keys, k):
    similarity = (keys @ query) / (keys * keys).sum(dim=1)
    return similarity.argsort(descending=True)[:k]

# %% two mistakes: sorts in ascending order, so the farthest keys come first; and returns the rows as int32
def nearest(query, keys, k):
    similarity = F.normalize(keys, dim=-1) @ F.normalize(query, dim=-1)
    return similarity.argsort()[:k].to(torch.int32)

# %% right: sorts the row numbers in Python by their cosine
def nearest(query, keys, k):
    similarity = (F.normalize(keys, dim=1) @ query).tolist()
    rows = sorted(range(len(similarity)), key=lambda j: similarity[j], reverse=True)
    return torch.tensor(rows[:k], dtype=torch.int64)

# %% right: takes the smallest distances between the unit vectors, which rank like the largest cosines
def nearest(query, keys, k):
    unit_keys = keys / keys.norm(dim=1, keepdim=True)
    unit_query = query / query.norm()
    distance = (unit_keys - unit_query).pow(2).sum(dim=1)
    return torch.topk(distance, k, largest=False).indices

# %% right: takes the best key again and again and crosses it out with minus infinity
def nearest(query, keys, k):
    scores = (keys / torch.linalg.vector_norm(keys, dim=-1, keepdim=True)).mv(query)
    rows = torch.empty(k, dtype=torch.long)
    for n in range(k):
        rows[n] = scores.argmax()
        scores = scores.index_fill(0, rows[n], float("-inf"))
    return rows


# %% wrong: named in the review: returns the similarities instead of the rows
def nearest(query, keys, k):
    return (F.normalize(keys, dim=1) @ F.normalize(query, dim=0)).topk(k).values
