# %% setup
import torch

# %% wrong: sets the values of the padding to zero instead of hiding the keys, so the weights on the padding stay
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    value = value * keep[:, None, :, None]
    return weights @ value, weights

# %% wrong: uses the padding of the first item for the whole batch
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    mask = keep[0].view(1, 1, 1, -1)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
    return weights @ value, weights

# %% two mistakes: forgets the scale; and zeroes the padding's weights only after the softmax, so rows no longer sum to 1
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1)
    weights = weights * keep[:, None, None, :]
    return weights @ value, weights

# %% wrong: still masks the queries' axis, now with minus infinity
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    w = torch.softmax(scores.masked_fill(~keep[:, None, :, None], -torch.inf), dim=-1)
    return w @ value, w

# %% wrong: masks after the softmax, the rest does not sum to 1
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    w = torch.softmax(scores, dim=-1) * keep[:, None, None, :]
    return w @ value, w

# %% wrong: drops the division by the root of d_k on the way
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1)
    w = torch.softmax(scores.masked_fill(~keep[:, None, None, :], -1e9), dim=-1)
    return w @ value, w

# %% right: adds a mask of 0 and minus infinity
def attend(query, key, value, keep):
    extra = torch.zeros_like(keep, dtype=query.dtype).masked_fill(keep.logical_not(), -torch.inf)
    weights = torch.einsum("bhid,bhjd->bhij", query, key).div(key.size(-1) ** 0.5)
    weights = weights.add(extra.unsqueeze(1).unsqueeze(1)).softmax(3)
    return torch.einsum("bhij,bhjv->bhiv", weights, value), weights

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: inverts keep in place, so the argument is changed
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    hide = keep.logical_not_()[:, None, None, :]
    weights = torch.softmax(scores.masked_fill(hide, float("-inf")), dim=-1)
    return weights @ value, weights

# %% setup
import torch
import torch.nn.functional as F

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
