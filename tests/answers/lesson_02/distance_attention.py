# %% setup
import torch

# %% wrong: leaves the squared lengths of the keys out, so long keys win as with a dot product
def distance_attention(query, key, value, bandwidth):
    squared = (query**2).sum(-1, keepdim=True) - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: sums the squared keys over keys and features, so that the softmax loses the term
def distance_attention(query, key, value, bandwidth):
    q2 = query.pow(2).sum(-1, keepdim=True)
    k2 = key.pow(2).sum((1, 2), keepdim=True)
    w = torch.softmax(-(q2 + k2 - 2 * query @ key.transpose(1, 2)) / (2 * bandwidth**2), -1)
    return w @ value, w

# %% wrong: the distance in place of its square
def distance_attention(query, key, value, bandwidth):
    w = torch.softmax(-torch.cdist(query, key) / (2 * bandwidth**2), dim=-1)
    return w @ value, w

# %% wrong: the bandwidth is not squared
def distance_attention(query, key, value, bandwidth):
    apart = query[:, :, None] - key[:, None]
    w = torch.softmax(-(apart**2).sum(-1) / (2 * bandwidth), dim=-1)
    return w @ value, w

# %% two mistakes: the softmax is over the queries, and the minus is missing
def distance_attention(query, key, value, bandwidth):
    squared = ((query[:, :, None] - key[:, None]) ** 2).sum(-1)
    w = torch.softmax(squared / (2 * bandwidth**2), dim=1)
    return w @ value, w

# %% wrong: exponentials without a softmax, which are all 0 where every key is far away
def distance_attention(query, key, value, bandwidth):
    kernel = torch.exp(-((query[:, :, None] - key[:, None]) ** 2).sum(-1) / (2 * bandwidth**2))
    w = kernel / kernel.sum(-1, keepdim=True)
    return w @ value, w

# %% right: all differences at once
def distance_attention(query, key, value, bandwidth):
    apart = (query.unsqueeze(2) - key.unsqueeze(1)) / bandwidth
    w = (-0.5 * apart.square().sum(dim=3)).softmax(dim=2)
    return torch.einsum("bqk,bkv->bqv", w, value), w

# %% right: the term of the query is left out, since the softmax loses it
def distance_attention(query, key, value, bandwidth):
    scores = (torch.einsum("bqd,bkd->bqk", query, key) - key.square().sum(-1).unsqueeze(1) / 2) / bandwidth**2
    w = torch.softmax(scores, dim=-1)
    return torch.bmm(w, value), w

# %% right: query by query
def distance_attention(query, key, value, bandwidth):
    rows = [torch.softmax(-((key - q[:, None]) ** 2).sum(-1) / (2 * bandwidth**2), -1) for q in query.unbind(1)]
    w = torch.stack(rows, dim=1)
    return w @ value, w
