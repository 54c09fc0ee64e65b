# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: lets every position attend to itself even where it is padding, so that no row is empty, though padding must be hidden as a key
def batch_masks(source, target, pad_id):
    length = target.shape[1]
    source_mask = (source != pad_id)[:, None, None, :]
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    target_mask = (target != pad_id)[:, None, None, :] & causal
    return source_mask, target_mask | torch.eye(length, dtype=torch.bool)


# %% wrong: counts the real ids of each row and hides what stands behind that many, which hides the wrong ids where padding does not stand on the right
def batch_masks(source, target, pad_id):
    def real(ids):
        lengths = (ids != pad_id).sum(dim=1)
        return torch.arange(ids.shape[1])[None, :] < lengths[:, None]

    length = target.shape[1]
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    return real(source)[:, None, None, :], real(target)[:, None, None, :] & causal


# %% wrong: takes ids above pad_id for real, so with a pad_id other than 0 it also hides the ids below it
def batch_masks(source, target, pad_id):
    length = target.shape[1]
    places = torch.arange(length)
    future = places[None, :] > places[:, None]
    source_mask = (source > pad_id).unsqueeze(1).unsqueeze(2)
    target_mask = (target > pad_id).unsqueeze(1).unsqueeze(2) & ~future
    return source_mask, target_mask


# %% wrong: hides everything from the first padding of a row on, also the real ids behind it
def batch_masks(source, target, pad_id):
    before_padding_source = (source != pad_id).long().cumprod(dim=1).bool()
    before_padding_target = (target != pad_id).long().cumprod(dim=1).bool()
    length = target.shape[1]
    causal = torch.tril(torch.ones(length, length)).bool()
    return before_padding_source[:, None, None, :], before_padding_target[:, None, None, :] & causal


# %% two mistakes: joins the padding with the rows of the target instead of its keys; and returns the target mask as whole numbers instead of booleans
def batch_masks(source, target, pad_id):
    length = target.shape[1]
    causal = torch.ones(length, length, dtype=torch.long).tril()
    source_mask = (source != pad_id)[:, None, None, :]
    target_mask = (target != pad_id)[:, None, :, None] * causal
    return source_mask, target_mask


# %% right: fills both masks entry by entry in Python loops
def batch_masks(source, target, pad_id):
    (B, L_s), L_t = source.shape, target.shape[1]
    source_mask = torch.zeros(B, 1, 1, L_s, dtype=torch.bool)
    target_mask = torch.zeros(B, 1, L_t, L_t, dtype=torch.bool)
    for b in range(B):
        for k in range(L_s):
            source_mask[b, 0, 0, k] = int(source[b, k]) != pad_id
        for q in range(L_t):
            for k in range(q + 1):
                target_mask[b, 0, q, k] = int(target[b, k]) != pad_id
    return source_mask, target_mask


# %% right: an einsum of ones and zeros, key by key, compared with 0 at the end
def batch_masks(source, target, pad_id):
    real = (target - pad_id).abs().clamp(max=1)
    seen = (torch.arange(target.shape[1]).view(-1, 1) >= torch.arange(target.shape[1])).long()
    target_mask = torch.einsum("bk,qk->bqk", real, seen).unsqueeze(1) > 0
    return source.ne(pad_id).view(source.shape[0], 1, 1, -1), target_mask
