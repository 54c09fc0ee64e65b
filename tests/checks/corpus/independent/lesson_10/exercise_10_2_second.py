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


def batch_masks(source, target, pad_id):
    L = target.shape[1]
    causal = torch.ones(L, L, dtype=torch.bool).tril()
    return (source != pad_id)[:, None, None, :], (target != pad_id)[:, None, None, :] & causal

# %% wrong: the labels are the target rolled by one, so they keep L_t + 1 columns with the start symbol at the end
def shift_target(target, pad_id):
    decoder_input = target[:, :-1]
    labels = target.roll(-1, dims=1)
    return decoder_input, labels, (target[:, 1:] != pad_id).sum()

# %% wrong: counts the symbols of the decoder input that are not padding instead of the labels, which is too many where the row has padding
def shift_target(target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    count = (decoder_input != pad_id).sum()
    return decoder_input, labels, count

# %% wrong: the count is one number for each row instead of one number for the batch
def shift_target(target, pad_id):
    labels = target[:, 1:]
    return target[:, :-1], labels, (labels != pad_id).sum(dim=1)

# %% wrong: cuts off columns whose labels are padding in every row, so that the results may have fewer than L_t columns
def shift_target(target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    used = (labels != pad_id).any(dim=0)
    return decoder_input[:, used], labels[:, used], int((labels != pad_id).sum())

# %% right: splits with narrow and copies, and counts in plain Python
def shift_target(target, pad_id):
    n = target.size(1) - 1
    decoder_input = target.narrow(1, 0, n).clone()
    labels = target.narrow(1, 1, n).clone()
    count = sum(1 for row in labels.tolist() for symbol in row if symbol != pad_id)
    return decoder_input, labels, count

# %% right: makes windows of two neighbours with unfold and counts with numel minus the number of padding labels
def shift_target(target, pad_id):
    pairs = target.unfold(1, 2, 1)
    decoder_input, labels = pairs.unbind(dim=-1)
    return decoder_input, labels, labels.numel() - labels.eq(pad_id).sum()
