# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: the mask has shape (B, 1, L_k), so the batch axis of keep meets the heads; right only for one item, an error or another item's mask otherwise
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    mask = keep.unsqueeze(1)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
    return weights @ value, weights

# %% wrong: sets the values of the padding to 0 but lets it keep its weight
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    value = value.masked_fill(~keep[:, None, :, None], 0.0)
    return weights @ value, weights

# %% wrong: hides padding as query too, so rows of padding queries become NaN (and L_q other than L_k is an error)
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    mask = keep[:, None, None, :] & keep[:, None, :, None]
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights @ value, weights

# %% wrong: inverts keep in place, so the argument is changed
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    hide = keep.logical_not_()[:, None, None, :]
    weights = torch.softmax(scores.masked_fill(hide, float("-inf")), dim=-1)
    return weights @ value, weights

# %% right: each item is computed with its real keys only, and the weights are put back between zeros
def attend(query, key, value, keep):
    outputs, weights = [], []
    for q, k, v, real in zip(query, key, value, keep):
        places = real.nonzero().flatten()
        w = torch.softmax(q @ k[:, places].mT / q.shape[-1] ** 0.5, dim=-1)
        outputs.append(w @ v[:, places])
        weights.append(torch.zeros(*q.shape[:2], len(real), dtype=w.dtype).index_copy(-1, places, w))
    return torch.stack(outputs), torch.stack(weights)

# %% right: one helper that mixes anything by the weights, called once with the values and once with an identity matrix to get the weights
def attend(query, key, value, keep):
    def mixed(what):
        scores = torch.einsum("bhqd,bhkd->bhqk", query, key) * query.shape[-1] ** -0.5
        return F.softmax(scores.masked_fill(~keep[:, None, None, :], float("-inf")), dim=-1) @ what
    eye = torch.eye(key.shape[-2], dtype=value.dtype).expand(*key.shape[:2], -1, -1)
    return mixed(value), mixed(eye)
