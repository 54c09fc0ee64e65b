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


# %% wrong: the source mask hides nothing, so the model sees the padding of the source
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = torch.ones_like(source, dtype=torch.bool)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


# %% wrong: averages each sequence by itself and then takes the mean of these means, so tokens of short sequences weigh more
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    losses = [F.cross_entropy(logits[b], labels[b], ignore_index=pad_id) for b in range(len(labels))]
    return torch.stack(losses).mean()


# %% two mistakes: the labels are masked in place in a view, which writes -100 into the caller's target; and the diagonal of the causal mask stays at 1, so each position still sees its label
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1].clone(), target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril(diagonal=1)
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    labels[labels == pad_id] = -100
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


# %% right: log_softmax and gather instead of cross_entropy, the causal mask from comparing places
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    place = torch.arange(decoder_input.shape[1], device=target.device)
    target_mask = (decoder_input != pad_id)[:, None, None, :] & (place <= place[:, None])
    source_mask = (source != pad_id)[:, None, None, :]
    log_p = model(source, decoder_input, source_mask, target_mask).log_softmax(dim=-1)
    own = log_p.gather(2, labels.unsqueeze(2)).squeeze(2)  # (B, L_t)
    keep = labels != pad_id
    return -(own * keep).sum() / keep.sum()


# %% right: cross_entropy in its (B, V, L) form, summed and divided by the count
def batch_loss(model, source, target, pad_id):
    decoder_input = target[:, :-1]
    labels = target[:, 1:]
    future = torch.ones(labels.size(1), labels.size(1), dtype=torch.bool).triu(1)
    target_mask = ~(decoder_input.eq(pad_id)[:, None, None, :] | future)
    logits = model(source, decoder_input, ~source.eq(pad_id)[:, None, None, :], target_mask)
    total = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=pad_id, reduction="sum")
    return total / labels.ne(pad_id).sum()


# %% right: picks the logits of the real labels with a boolean index, and subtracts from logsumexp
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.tril(torch.ones(L_t, L_t)).bool()
    target_mask = torch.logical_and((decoder_input != pad_id).reshape(-1, 1, 1, L_t), causal)
    source_mask = (source != pad_id).reshape(len(source), 1, 1, -1)
    logits = model(source, decoder_input, source_mask, target_mask)
    keep = labels != pad_id
    logits, labels = logits[keep], labels[keep]  # (N, V), (N,)
    return (logits.logsumexp(dim=-1) - logits[torch.arange(len(labels)), labels]).mean()


# %% wrong: named in the review: the target mask is only causal, the target's padding is not hidden
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = causal[None, None].expand(len(target), 1, L_t, L_t)
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


# %% wrong: named in the review: the target's padding is hidden as queries (rows) instead of as keys
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = (decoder_input != pad_id)[:, None, :, None] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)
