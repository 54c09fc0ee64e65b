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


# %% wrong: decoder input and labels are swapped
def shift_target(target, pad_id):
    decoder_input = target[:, 1:]
    labels = target[:, :-1]
    count = (decoder_input != pad_id).sum().item()
    return decoder_input, labels, count


# %% wrong: the count takes the symbols of the decoder input that are not padding, not those of the labels
def shift_target(target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    count = int((decoder_input != pad_id).sum())
    return decoder_input, labels, count


# %% wrong: the count is the number of labels that are not 0, which is right only when pad_id is 0
def shift_target(target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    return decoder_input, labels, int(torch.count_nonzero(labels))


# %% wrong: the count is one number per sequence instead of one for the whole batch
def shift_target(target, pad_id):
    decoder_input = target[:, :-1]
    labels = target[:, 1:]
    count = (labels != pad_id).sum(dim=1)
    return decoder_input, labels, count


# %% wrong: the last symbol of each sequence (its end symbol) is taken out of the decoder input and replaced by padding when the row has padding, although only the last column is to be cut off
def shift_target(target, pad_id):
    labels = target[:, 1:]
    decoder_input = target[:, :-1].clone()
    lengths = (target != pad_id).sum(dim=1)  # start, symbols, end
    for row, n in enumerate(lengths.tolist()):
        if n - 1 < decoder_input.shape[1]:
            decoder_input[row, n - 1] = pad_id
    return decoder_input, labels, int((labels != pad_id).sum())


# %% wrong: padding in the labels is replaced by -100 in place, which changes the labels returned and the caller's target
def shift_target(target, pad_id):
    decoder_input = target[:, :-1].clone()
    labels = target[:, 1:]
    count = int((labels != pad_id).sum())
    labels[labels == pad_id] = -100
    return decoder_input, labels, count


# %% two mistakes: the labels are made by rolling, so they keep all L_t + 1 columns with the start symbol at the end; and the count includes padding
def shift_target(target, pad_id):
    decoder_input = target[:, :-1]
    labels = torch.roll(target, -1, dims=1)
    return decoder_input, labels, target[:, 1:].numel()


# %% right: narrow for the slices, and the count as a tensor without dimensions
def shift_target(target, pad_id):
    L_t = target.size(1) - 1
    decoder_input = target.narrow(1, 0, L_t)
    labels = target.narrow(1, 1, L_t)
    return decoder_input, labels, labels.ne(pad_id).sum()


# %% right: index_select with two ranges, copies instead of views, and the count as total minus padding
def shift_target(target, pad_id):
    places = torch.arange(target.shape[1] - 1, device=target.device)
    decoder_input = target.index_select(1, places)
    labels = target.index_select(1, places + 1)
    return decoder_input, labels, labels.numel() - int((labels == pad_id).sum())


# %% right: Python lists, row by row
def shift_target(target, pad_id):
    inputs, labels, count = [], [], 0
    for row in target.tolist():
        inputs.append(row[:-1])
        labels.append(row[1:])
        count += sum(1 for symbol in row[1:] if symbol != pad_id)
    return torch.tensor(inputs, dtype=target.dtype), torch.tensor(labels, dtype=target.dtype), count
