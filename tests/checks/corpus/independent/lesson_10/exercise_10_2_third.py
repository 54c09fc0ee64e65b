# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: counts the symbols of the decoder's input that are not padding, which is another number than that of the labels where a row is padded
def shift_target(target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    return decoder_input, labels, int((decoder_input != pad_id).sum())


# %% wrong: replaces the end symbol in the decoder's input by padding, where a row is padded
def shift_target(target, pad_id):
    labels = target[:, 1:]
    decoder_input = torch.where(labels == pad_id, pad_id, target[:, :-1])
    return decoder_input, labels, int((labels != pad_id).sum())


# %% wrong: does not count the end symbol of each row, as if only the symbols proper were asked for
def shift_target(target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    count = (labels != pad_id).sum() - len(target)
    return decoder_input, labels, count


# %% wrong: cuts the batch to its longest row, so the width is less than L_t where the last column is all padding
def shift_target(target, pad_id):
    longest = int((target != pad_id).sum(dim=1).max())
    target = target[:, :longest]
    decoder_input, labels = target[:, :-1], target[:, 1:]
    return decoder_input, labels, (labels != pad_id).sum()


# %% right: goes through rows and places in Python and counts as it goes
def shift_target(target, pad_id):
    given, asked, count = [], [], 0
    for row in target.tolist():
        given.append(row[: len(row) - 1])
        asked.append([])
        for symbol in row[1:]:
            asked[-1].append(symbol)
            count += int(symbol != pad_id)
    return target.new_tensor(given), target.new_tensor(asked), count


# %% right: unfolds the rows into neighbouring pairs: the first of each pair is given, the second is asked for
def shift_target(target, pad_id):
    pairs = target.unfold(1, 2, 1)  # (B, L_t, 2)
    decoder_input, labels = pairs.unbind(dim=-1)
    return decoder_input.clone(), labels.clone(), labels.numel() - torch.eq(labels, pad_id).sum()
