# %% setup
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from course_utils.datasets.tasks import copy_task
from course_utils.layers import DecoderLayer, EncoderLayer, InputEmbedding, LayerNorm
from course_utils.positions import SinusoidalPositions

torch.set_num_threads(1)

# %% wrong: the target mask also blanks the rows (queries) of padding positions, which should stay
def batch_masks(source, target, pad_id):
    source_mask = (source != pad_id)[:, None, None, :]
    keep = target != pad_id
    L = target.shape[1]
    causal = torch.tril(torch.ones(L, L, dtype=torch.bool))
    target_mask = keep[:, None, None, :] & keep[:, None, :, None] & causal
    return source_mask, target_mask

# %% wrong: assumes that padding stands on the right: counts the real ids of a row and lets the first so many source positions be seen, whatever stands there
def batch_masks(source, target, pad_id):
    n = (source != pad_id).sum(dim=1)
    source_mask = (torch.arange(source.shape[1])[None, :] < n[:, None])[:, None, None, :]
    L = target.shape[1]
    causal = torch.tril(torch.ones(L, L, dtype=torch.bool))
    return source_mask, (target != pad_id)[:, None, None, :] & causal

# %% wrong: the target mask is a product of integers (0 and 1) and not boolean
def batch_masks(source, target, pad_id):
    source_mask = (source != pad_id).unsqueeze(1).unsqueeze(1)
    L = target.shape[1]
    causal = torch.ones(L, L).tril().long()
    target_mask = (target != pad_id).unsqueeze(1).unsqueeze(1) * causal
    return source_mask, target_mask

# %% wrong: the triangle of the target mask is built with the length of the source, which fails or is wrong when the lengths differ
def batch_masks(source, target, pad_id):
    L = source.shape[1]
    source_mask = (source != pad_id)[:, None, None, :]
    causal = torch.ones(L, L, dtype=torch.bool).tril()
    return source_mask, (target != pad_id)[:, None, None, :] & causal

# %% two mistakes: both masks are inverted (True means hidden); and the padding is compared with 0 instead of pad_id
def batch_masks(source, target, pad_id):
    source_mask = (source == 0)[:, None, None, :]
    L = target.shape[1]
    future = torch.ones(L, L, dtype=torch.bool).triu(diagonal=1)
    target_mask = (target == 0)[:, None, None, :] | future
    return source_mask, target_mask

# %% right: fills the masks entry by entry in Python loops
def batch_masks(source, target, pad_id):
    B, Ls = source.shape
    Lt = target.shape[1]
    source_mask = torch.zeros(B, 1, 1, Ls, dtype=torch.bool)
    target_mask = torch.zeros(B, 1, Lt, Lt, dtype=torch.bool)
    for b in range(B):
        for j in range(Ls):
            source_mask[b, 0, 0, j] = bool(source[b, j] != pad_id)
        for i in range(Lt):
            for j in range(i + 1):
                target_mask[b, 0, i, j] = bool(target[b, j] != pad_id)
    return source_mask, target_mask

# %% right: compares positions with arange and uses masked_fill on an expanded copy of the key mask
def batch_masks(source, target, pad_id):
    B, L = target.shape
    place = torch.arange(L, device=target.device)
    future = place[None, :] > place[:, None]
    target_mask = target.ne(pad_id).view(B, 1, 1, L).expand(B, 1, L, L).masked_fill(future, False)
    return source.ne(pad_id).view(B, 1, 1, -1), target_mask
