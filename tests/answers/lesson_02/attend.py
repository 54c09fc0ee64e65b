# %% setup
import torch

# %% wrong: divides the scores by the square root of d, though the attention is to be without scaling
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: takes the softmax over the batch axis (dim=0)
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=0)
    return weights @ value, weights

# %% two mistakes: divides the scores by the square root of d; and returns the weights first and the output second
def attend(query, key, value):
    d = key.shape[-1]
    weights = torch.softmax(query @ key.mT / d**0.5, dim=-1)
    return weights, weights @ value

# %% wrong: still along the queries, dim=1
def attend(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=1)
    return weights @ value, weights

# %% wrong: returns the output alone
def attend(query, key, value):
    return torch.softmax(query @ key.transpose(-2, -1), dim=-1) @ value

# %% right: computes the scores with the keys first, takes the softmax over the key axis there and transposes afterwards
def attend(query, key, value):
    weights = torch.softmax(torch.bmm(key, query.transpose(1, 2)), dim=1).transpose(1, 2)
    return torch.einsum("bqk,bkv->bqv", weights, value), weights

# %% right: scores as keys times queries, softmax over their own axis, weights transposed at the end
def attend(query, key, value):
    by_key = torch.softmax(torch.einsum("bkd,bqd->bkq", key, query), dim=1)
    return torch.einsum("bkq,bkv->bqv", by_key, value), by_key.mT

# %% right: item by item, query by query
def attend(query, key, value):
    outputs, all_weights = [], []
    for q_item, k_item, v_item in zip(query, key, value):
        rows = torch.stack([torch.softmax(k_item @ q, dim=0) for q in q_item])
        all_weights.append(rows)
        outputs.append(rows @ v_item)
    return torch.stack(outputs), torch.stack(all_weights)

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: returns the right weights but takes the output from PyTorch's function, which scales by the square root of d
def attend(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return F.scaled_dot_product_attention(query, key, value), weights
