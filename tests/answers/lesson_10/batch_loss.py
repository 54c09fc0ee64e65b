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

# %% wrong: the decoder gets the unshifted labels as its input, so with a right causal mask each position sees its own label
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, 1:], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)

# %% wrong: the causal mask is turned round (triu), so each position sees itself and the future instead of the past
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).triu()
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)

# %% wrong: the loss is averaged over all labels, the padding included, because cross_entropy is not told what to ignore
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

# %% wrong: returns a plain number (.item()), through which no gradient can flow
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril(diagonal=0)
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
    return loss.item()

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

# %% two mistakes: the padding counts in the loss (no ignore_index); and the result is detached so that no gradient flows
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten()).detach()

# %% right: picks the positions that count by a boolean index and gathers their log-probabilities
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    i = torch.arange(labels.shape[1])
    target_mask = (decoder_input != pad_id)[:, None, None, :] & (i[None, :] <= i[:, None])
    logits = model(source, decoder_input, (source != pad_id)[:, None, None, :], target_mask)
    keep = labels != pad_id
    return -logits[keep].log_softmax(-1).gather(1, labels[keep][:, None]).mean()

# %% right: masks the future with triu and logical operations, sums the loss and divides by the number of labels
def batch_loss(model, source, target, pad_id):
    B, L = target[:, 1:].shape
    decoder_input, labels = target[:, :L], target[:, 1:]
    future = torch.triu(torch.ones(L, L), diagonal=1).bool()
    hidden = torch.logical_or(decoder_input.eq(pad_id).view(B, 1, 1, L), future)
    source_mask = source.eq(pad_id).logical_not().view(B, 1, 1, -1)
    logits = model(source, decoder_input, source_mask, hidden.logical_not())
    total = F.cross_entropy(logits.permute(0, 2, 1), labels, ignore_index=pad_id, reduction="sum")
    return total / labels.ne(pad_id).sum()

# %% setup
import torch
import torch.nn.functional as F

# %% right: one log-probability picked for each real label
def batch_loss(model, source, target, pad_id):
    given, labels = target.narrow(1, 0, target.size(1) - 1), target.narrow(1, 1, target.size(1) - 1)
    place = torch.arange(given.size(1))
    no_later = place.unsqueeze(1).ge(place)
    own = torch.logical_and(given.ne(pad_id)[:, None, None], no_later)
    logits = model(source, given, source.ne(pad_id)[:, None, None], own)
    picked = logits.gather(2, labels.unsqueeze(2)).squeeze(2) - logits.logsumexp(2)
    return -picked[labels != pad_id].mean()
