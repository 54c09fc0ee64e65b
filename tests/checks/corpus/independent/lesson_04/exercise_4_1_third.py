# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: softmax by hand that subtracts the largest score of the whole tensor, so that rows far below it become 0 / 0 = NaN
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    e = torch.exp(scores - scores.max())
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ value, weights


# %% wrong: softmax by hand that clamps the scores to -80 ... 80 against overflow, so that different scores beyond it get equal weights
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    e = torch.exp(scores.clamp(-80, 80))
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ value, weights


# %% wrong: scales the query in place, so the caller's query is changed
def attention(query, key, value):
    query /= query.shape[-1] ** 0.5
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return weights @ value, weights


# %% wrong: computes the weights under no_grad, so no gradient reaches the query and the key
def attention(query, key, value):
    with torch.no_grad():
        scores = torch.matmul(query, key.transpose(-1, -2)) / query.size(-1) ** 0.5
        weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights


# %% right: einsum for both products, the softmax as the exponential of log_softmax
def attention(query, key, value):
    scores = torch.einsum("...id,...jd->...ij", query, key) / query.shape[-1] ** 0.5
    weights = torch.log_softmax(scores, dim=-1).exp()
    return torch.einsum("...ij,...jv->...iv", weights, value), weights


# %% right: flattens the leading axes and loops over every sequence and every query, collecting rows with stack
def attention(query, key, value):
    lead = query.shape[:-2]
    outputs, tables = [], []
    for q, k, v in zip(query.flatten(0, -3), key.flatten(0, -3), value.flatten(0, -3)):
        rows = []
        for one in q:
            scores = (k * one).sum(1) / q.shape[1] ** 0.5
            rows.append(F.softmax(scores, dim=0))
        tables.append(torch.stack(rows))
        outputs.append(torch.stack([(row[:, None] * v).sum(0) for row in rows]))
    output, weights = torch.stack(outputs), torch.stack(tables)
    return output.reshape(*lead, *output.shape[-2:]), weights.reshape(*lead, *weights.shape[-2:])

# %% right: the root as torch.sqrt of a tensor, which is float32 whatever the query is
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / torch.sqrt(torch.tensor(query.shape[-1]))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: multiplies the values with the raw scores, and hands back the right weights beside that
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1)
    return scores @ value, torch.softmax(scores / query.shape[-1] ** 0.5, dim=-1)

# %% wrong: the output is made with weights of unscaled scores, the weights handed back are right
def attention(query, key, value):
    scores = query @ key.transpose(-2, -1)
    return torch.softmax(scores, dim=-1) @ value, torch.softmax(scores / query.shape[-1] ** 0.5, dim=-1)
