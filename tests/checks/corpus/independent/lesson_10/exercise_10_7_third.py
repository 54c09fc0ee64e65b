# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.datasets.tasks import copy_task


# %% wrong: hides as keys the places whose label is padding instead of those that are padding themselves, so the end symbol is hidden too
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = (labels != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


# %% wrong: gives the causal mask alone, trusting that padding on the right is in the future anyway, so padding is not hidden from later positions
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    B, L_t = decoder_input.shape
    target_mask = torch.ones(L_t, L_t, dtype=torch.bool).tril().expand(B, 1, L_t, L_t)
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


# %% wrong: averages each row by itself and then the rows, so the labels of short rows weigh more
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    losses = [F.cross_entropy(row, label, ignore_index=pad_id) for row, label in zip(logits, labels, strict=True)]
    return torch.stack(losses).mean()


# %% wrong: lets every position see itself even where it is padding, which shows padding as a key
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    before = torch.ones(L_t, L_t, dtype=torch.bool).tril(diagonal=-1)
    itself = torch.eye(L_t, dtype=torch.bool)
    target_mask = ((decoder_input != pad_id)[:, None, None, :] & before) | itself
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


# %% two mistakes: hides each position from itself; and divides the loss by all positions, padding included
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril(diagonal=-1)
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    total = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, reduction="sum")
    return total / labels.numel()


# %% right: rules the future out by comparing places, and gathers the log-probabilities of the real labels
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target.narrow(1, 0, target.shape[1] - 1), target.narrow(1, 1, target.shape[1] - 1)
    places = torch.arange(labels.shape[1])
    future = places > places.unsqueeze(1)
    target_mask = ~(decoder_input.eq(pad_id).unsqueeze(1).unsqueeze(1) | future)
    source_mask = ~source.eq(pad_id).unsqueeze(1).unsqueeze(1)
    log_p = model(source, decoder_input, source_mask, target_mask).log_softmax(dim=-1)
    losses = -log_p.gather(2, labels.unsqueeze(2)).squeeze(2)
    return torch.masked_select(losses, labels != pad_id).mean()


# %% right: builds the target mask row by row, and weighs the losses by an einsum
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    real_keys = decoder_input != pad_id
    rows = []
    for t in range(labels.shape[1]):
        row = real_keys.clone()
        row[:, t + 1 :] = False
        rows.append(row)
    target_mask = torch.stack(rows, dim=1)[:, None]
    logits = model(source, decoder_input, (source != pad_id)[:, None, None], target_mask)
    losses = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    weights = (labels != pad_id).to(losses.dtype)
    return torch.einsum("bt,bt->", losses, weights) / weights.sum()
