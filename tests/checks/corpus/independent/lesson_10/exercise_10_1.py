# %% setup
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils.datasets.tasks import copy_task
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions

torch.set_num_threads(1)


# %% wrong: the masks are inverted: True stands where a position may not be attended to
def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    source_mask = (source == pad_id)[:, None, None, :]
    future = torch.ones(L_t, L_t, dtype=torch.bool, device=target.device).triu(diagonal=1)
    target_mask = (target == pad_id)[:, None, None, :] | future
    return source_mask, target_mask


# %% wrong: padding is taken to be the id 0, whatever pad_id says
def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    source_mask = source.bool()[:, None, None, :]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = target.bool()[:, None, None, :] & causal
    return source_mask, target_mask


# %% wrong: the rows of padding queries in the target mask are hidden too, although its rows should stay
def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    source_mask = (source != pad_id)[:, None, None, :]
    real = target != pad_id
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = real[:, None, None, :] & real[:, None, :, None] & causal
    return source_mask, target_mask


# %% wrong: the padding is taken from the number of real ids in a row, as if it always stood on the right, so padding on the left or in the middle is not hidden and real symbols are
def batch_masks(source, target, pad_id):
    def real(ids):
        lengths = (ids != pad_id).sum(dim=1, keepdim=True)  # (B, 1)
        return torch.arange(ids.shape[1]) < lengths  # (B, L)

    L_t = target.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    return real(source)[:, None, None, :], real(target)[:, None, None, :] & causal


# %% wrong: the target mask hides a position from itself as well as the future (the diagonal is left out)
def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    source_mask = (source != pad_id)[:, None, None, :]
    place = torch.arange(L_t)
    before = place[None, :] < place[:, None]
    target_mask = (target != pad_id)[:, None, None, :] & before
    return source_mask, target_mask


# %% wrong: only ids greater than pad_id count as real symbols, so real ids below pad_id are hidden together with the padding
def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    source_mask = (source > pad_id).unsqueeze(1).unsqueeze(1)
    causal = torch.tril(torch.ones(1, 1, L_t, L_t)).bool()
    target_mask = (target > pad_id).unsqueeze(1).unsqueeze(1) & causal
    return source_mask, target_mask


# %% two mistakes: the last position of the target is cut off before the mask is made; and the target's padding is hidden as a query (whole rows) and not as a key
def batch_masks(source, target, pad_id):
    target = target[:, :-1]
    L_t = target.shape[1]
    source_mask = (source != pad_id)[:, None, None, :]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = (target != pad_id)[:, None, :, None] & causal
    return source_mask, target_mask


# %% right: plain loops over sequences, queries and keys
def batch_masks(source, target, pad_id):
    B, L_s = source.shape
    L_t = target.shape[1]
    source_mask = torch.zeros(B, 1, 1, L_s, dtype=torch.bool)
    target_mask = torch.zeros(B, 1, L_t, L_t, dtype=torch.bool)
    for b in range(B):
        for k in range(L_s):
            source_mask[b, 0, 0, k] = int(source[b, k]) != pad_id
        for q in range(L_t):
            for k in range(q + 1):
                target_mask[b, 0, q, k] = int(target[b, k]) != pad_id
    return source_mask, target_mask


# %% right: builds what is hidden and negates it (De Morgan), with logical_or and logical_not
def batch_masks(source, target, pad_id):
    L_t = target.size(1)
    future = torch.triu(torch.ones((L_t, L_t), device=target.device), 1).bool()
    padding = target.eq(pad_id).view(-1, 1, 1, L_t)
    hidden = torch.logical_or(padding, future)
    return torch.logical_not(source.eq(pad_id)).view(source.size(0), 1, 1, -1), torch.logical_not(hidden)


# %% right: expands the padding to a square and cuts it with tril, in whole numbers, then turns it into booleans
def batch_masks(source, target, pad_id):
    B, L_t = target.shape
    real = torch.where(target == pad_id, 0, 1)  # (B, L_t)
    square = real.reshape(B, 1, 1, L_t).expand(B, 1, L_t, L_t)
    target_mask = torch.tril(square) == 1
    source_mask = torch.where(source == pad_id, 0, 1).reshape(B, 1, 1, -1) == 1
    return source_mask, target_mask


# %% wrong: the source mask is left as it is compared, (B, L_s), without the axes for heads and queries
def batch_masks(source, target, pad_id):
    n = target.shape[1]
    c = torch.ones(n, n, dtype=torch.bool).tril()
    return source != pad_id, (target != pad_id)[:, None, None, :] & c


# %% wrong: the source mask has two axes and the target mask three
def batch_masks(source, target, pad_id):
    n = target.shape[1]
    c = torch.ones(n, n, dtype=torch.bool).tril()
    return source != pad_id, (target != pad_id)[:, None, :] & c
