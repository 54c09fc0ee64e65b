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

# %% right: builds what is hidden and negates it (De Morgan), with logical_or and logical_not
def batch_masks(source, target, pad_id):
    L_t = target.size(1)
    future = torch.triu(torch.ones((L_t, L_t), device=target.device), 1).bool()
    padding = target.eq(pad_id).view(-1, 1, 1, L_t)
    hidden = torch.logical_or(padding, future)
    return torch.logical_not(source.eq(pad_id)).view(source.size(0), 1, 1, -1), torch.logical_not(hidden)

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

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% right: an einsum of ones and zeros, key by key, compared with 0 at the end
def batch_masks(source, target, pad_id):
    real = (target - pad_id).abs().clamp(max=1)
    seen = (torch.arange(target.shape[1]).view(-1, 1) >= torch.arange(target.shape[1])).long()
    target_mask = torch.einsum("bk,qk->bqk", real, seen).unsqueeze(1) > 0
    return source.ne(pad_id).view(source.shape[0], 1, 1, -1), target_mask

# %% setup
import torch

# %% wrong: the source mask is expanded to a row for every target position
def batch_masks(source, target, pad_id):
    L_t, L_s = target.shape[1], source.shape[1]
    mask = (source != pad_id)[:, None, None, :].expand(-1, 1, L_t, L_s)
    past = torch.tril(torch.ones(L_t, L_t, dtype=torch.bool))
    return mask, past & (target != pad_id)[:, None, None, :]

# %% wrong: the triangle lies the wrong way round, so the past is hidden and the future seen
def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    past = torch.ones(L_t, L_t).triu().bool()
    return source.ne(pad_id)[:, None, None], target.ne(pad_id)[:, None, None] & past

# %% wrong: the two masks are returned in the other order
def batch_masks(source, target, pad_id):
    L_t = target.shape[1]
    past = torch.ones(L_t, L_t).tril().bool()
    return target.ne(pad_id)[:, None, None] & past, source.ne(pad_id)[:, None, None]

# %% right: row t of the triangle by comparing places, padding by multiplication of booleans
def batch_masks(source, target, pad_id):
    place = torch.arange(target.shape[1])
    real = target.ne(pad_id).unsqueeze(1).unsqueeze(1)
    return source.ne(pad_id).unsqueeze(1).unsqueeze(1), real * (place <= place.unsqueeze(1))
