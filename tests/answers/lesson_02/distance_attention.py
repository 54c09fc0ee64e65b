# %% setup
import math

import torch

# %% wrong: hands the broken function in again: one squared length of all keys together
def distance_attention(query, key, value, bandwidth):
    q_squared = query.norm(dim=-1, keepdim=True) ** 2
    k_squared = key.norm() ** 2
    squared = q_squared + k_squared - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: squared lengths of the keys as a column, so they are added along the queries
def distance_attention(query, key, value, bandwidth):
    q_squared = query.norm(dim=-1, keepdim=True) ** 2
    k_squared = key.norm(dim=-1, keepdim=True) ** 2
    squared = q_squared + k_squared - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: squared lengths of the keys as (B, L_k), so the items of the batch line up with the queries
def distance_attention(query, key, value, bandwidth):
    q_squared = query.norm(dim=-1, keepdim=True) ** 2
    k_squared = key.norm(dim=-1) ** 2
    squared = q_squared + k_squared - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: one length for all keys of each item of the batch, still the same for all its keys
def distance_attention(query, key, value, bandwidth):
    q_squared = (query**2).sum(dim=-1, keepdim=True)
    k_squared = (key**2).sum(dim=(1, 2), keepdim=True)
    squared = q_squared + k_squared - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: forgets to square the lengths of the keys
def distance_attention(query, key, value, bandwidth):
    q_squared = query.norm(dim=-1, keepdim=True) ** 2
    k_length = key.norm(dim=-1)[:, None, :]
    squared = q_squared + k_length - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: leaves the squared lengths of the keys out, so the scores are dot products
def distance_attention(query, key, value, bandwidth):
    q_squared = query.square().sum(-1, keepdim=True)
    squared = q_squared - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: brings all keys to length 1, as on the circle
def distance_attention(query, key, value, bandwidth):
    key = torch.nn.functional.normalize(key, dim=-1)
    q_squared = query.norm(dim=-1, keepdim=True) ** 2
    k_squared = (key.norm(dim=-1) ** 2).unsqueeze(1)
    squared = q_squared + k_squared - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: the dot products counted once instead of twice
def distance_attention(query, key, value, bandwidth):
    q_squared = query.norm(dim=-1, keepdim=True) ** 2
    k_squared = key.norm(dim=-1)[:, None] ** 2
    squared = q_squared + k_squared - query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: divides by 2 and multiplies by the squared bandwidth, for want of parentheses
def distance_attention(query, key, value, bandwidth):
    squared = ((query[:, :, None] - key[:, None]) ** 2).sum(-1)
    weights = torch.softmax(-squared / 2 * bandwidth**2, dim=-1)
    return weights @ value, weights

# %% wrong: doesn't square the bandwidth
def distance_attention(query, key, value, bandwidth):
    squared = torch.cdist(query, key) ** 2
    weights = torch.softmax(-squared / (2 * bandwidth), dim=-1)
    return weights @ value, weights

# %% wrong: the factor 2 under the squared distance is missing
def distance_attention(query, key, value, bandwidth):
    squared = (query.unsqueeze(2) - key.unsqueeze(1)).pow(2).sum(dim=-1)
    weights = torch.softmax(-squared / bandwidth**2, dim=-1)
    return weights @ value, weights

# %% wrong: distances, not squared ones
def distance_attention(query, key, value, bandwidth):
    distance = torch.cdist(query, key)
    weights = torch.softmax(-distance / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: the minus sign is missing, so the farthest key gets the most weight
def distance_attention(query, key, value, bandwidth):
    squared = (query.unsqueeze(2) - key.unsqueeze(1)).pow(2).sum(dim=-1)
    weights = torch.softmax(squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: softmax over the queries
def distance_attention(query, key, value, bandwidth):
    squared = (query.unsqueeze(2) - key.unsqueeze(1)).pow(2).sum(dim=-1)
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=1)
    return weights @ value, weights

# %% wrong: the kernel divided by its sum, so a query far from all keys gets 0 / 0
def distance_attention(query, key, value, bandwidth):
    squared = (query.unsqueeze(2) - key.unsqueeze(1)).pow(2).sum(dim=-1)
    kernel = torch.exp(-squared / (2 * bandwidth**2))
    weights = kernel / kernel.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% wrong: squares of the keys summed over the keys instead of over the features
def distance_attention(query, key, value, bandwidth):
    q_squared = (query**2).sum(dim=-1, keepdim=True)
    k_squared = (key**2).sum(dim=1, keepdim=True)
    squared = q_squared + k_squared - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: right numbers by a root that is squared again, whose gradient is NaN where a query lies on a key
def distance_attention(query, key, value, bandwidth):
    distance = ((query[:, :, None] - key[:, None]) ** 2).sum(-1).sqrt()
    weights = torch.softmax(-(distance**2) / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% wrong: looks at the first item's keys for the squared lengths, in all items of the batch
def distance_attention(query, key, value, bandwidth):
    q_squared = query.norm(dim=-1, keepdim=True) ** 2
    k_squared = key[0].norm(dim=-1) ** 2
    squared = q_squared + k_squared - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% two mistakes: lengths of the keys not squared; and the bandwidth not squared
def distance_attention(query, key, value, bandwidth):
    q_squared = query.norm(dim=-1, keepdim=True) ** 2
    k_squared = key.norm(dim=-1).unsqueeze(1)
    squared = q_squared + k_squared - 2 * query @ key.mT
    weights = torch.softmax(-squared / (2 * bandwidth), dim=-1)
    return weights @ value, weights

# %% two mistakes: still one length of all keys together; and the factor 2 under the distance is missing
def distance_attention(query, key, value, bandwidth):
    squared = query.norm(dim=-1, keepdim=True) ** 2 + key.norm() ** 2 - 2 * query @ key.mT
    weights = torch.softmax(-squared / bandwidth**2, dim=-1)
    return weights @ value, weights

# %% right: no queries' lengths at all, since the softmax doesn't notice them
def distance_attention(query, key, value, bandwidth):
    scores = (query @ key.mT - (key * key).sum(-1).unsqueeze(-2) / 2) / bandwidth**2
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% right: all differences by broadcasting, mean of squares times d
def distance_attention(query, key, value, bandwidth):
    differences = (query[:, :, None, :] - key[:, None, :, :]) / bandwidth
    scores = -0.5 * torch.einsum("bijd,bijd->bij", differences, differences)
    weights = scores.softmax(2)
    return torch.einsum("bij,bjv->biv", weights, value), weights

# %% right: cdist, squared
def distance_attention(query, key, value, bandwidth):
    distance = torch.cdist(query, key, compute_mode="donot_use_mm_for_euclid_dist")
    weights = torch.softmax(-0.5 * (distance / bandwidth).square(), dim=-1)
    return weights.bmm(value), weights

# %% right: one dot product of longer vectors, which carry 1 and the key's squared length
def distance_attention(query, key, value, bandwidth):
    longer_q = torch.cat([query, torch.ones_like(query[..., :1])], dim=-1)
    longer_k = torch.cat([key, -0.5 * key.pow(2).sum(-1, keepdim=True)], dim=-1)
    scores = longer_q @ longer_k.transpose(1, 2) / (bandwidth * bandwidth)
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return weights @ value, weights

# %% right: the norm of all differences, squared again
def distance_attention(query, key, value, bandwidth):
    distance = (query[:, :, None] - key[:, None]).norm(dim=-1)
    weights = torch.softmax(-(distance**2) / (2 * bandwidth**2), dim=-1)
    return weights @ value, weights

# %% right: cdist as it comes, squared
def distance_attention(query, key, value, bandwidth):
    weights = (-torch.cdist(query, key) ** 2 / (2 * bandwidth**2)).softmax(dim=-1)
    return weights @ value, weights
