# %% setup
import torch

# %% wrong: the scores are divided by the square root of d, though no scaling is wanted
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: the softmax still runs over the queries, and its rows are only divided by their sums afterwards, so they sum to 1 but are not the softmax over the keys
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-2)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% wrong: the exponentials are taken without subtracting a maximum, so large scores overflow and give NaN
def attend(query, key, value):
    exp = torch.exp(query @ key.transpose(-2, -1))
    weights = exp / exp.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% wrong: the keys are viewed as (B, d, L_k) instead of transposed, which scrambles them
def attend(query, key, value):
    B, L_k, d = key.shape
    weights = torch.softmax(torch.bmm(query, key.reshape(B, d, L_k)), dim=-1)
    return torch.bmm(weights, value), weights

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
