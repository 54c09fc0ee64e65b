# %% setup
import torch
import torch.nn.functional as F


# %% wrong: puts two axes in front of keep, which gives (1, 1, B, L_k), so the items of the batch stand on the axis of the queries (right only for one item)
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    mask = keep[None, None]
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights @ value, weights


# %% wrong: counts the real tokens and allows that many keys from the left, right only if all padding stands on the right
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    lengths = keep.sum(dim=1)
    mask = torch.arange(key.shape[-2]) < lengths[:, None, None, None]
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights @ value, weights


# %% wrong: the output is right, but the returned weights are those without the mask
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    mask = keep.unsqueeze(1).unsqueeze(2)
    output = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1) @ value
    return output, weights


# %% wrong: sets the values of the padding to 0 in place besides, so the results are right but the caller's value is changed
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    mask = keep[:, None, None, :]
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    value.masked_fill_(~keep[:, None, :, None], 0.0)
    return weights @ value, weights


# %% right: takes the padding out of each item, attends to the real tokens only and puts the weights into a table of zeros
def attend(query, key, value, keep):
    outputs, tables = [], []
    for q, k, v, real in zip(query, key, value, keep):
        w = torch.softmax(torch.einsum("hid,hjd->hij", q, k[:, real]) / q.shape[-1] ** 0.5, dim=-1)
        outputs.append(torch.einsum("hij,hjv->hiv", w, v[:, real]))
        places = real.nonzero().flatten()
        tables.append(q.new_zeros(q.shape[0], q.shape[1], len(real)).index_copy(2, places, w))
    return torch.stack(outputs), torch.stack(tables)


# %% right: adds the logarithm of keep (0 or minus infinity) to the scores and uses exp of the log-softmax, values by a broadcast product and a sum
def attend(query, key, value, keep):
    bias = torch.log(keep.to(query.dtype))[:, None, None, :]
    scores = torch.einsum("bhid,bhjd->bhij", query, key) * query.shape[-1] ** -0.5
    weights = torch.log_softmax(scores + bias, dim=3).exp()
    return (weights.unsqueeze(-1) * value.unsqueeze(2)).sum(dim=3), weights
