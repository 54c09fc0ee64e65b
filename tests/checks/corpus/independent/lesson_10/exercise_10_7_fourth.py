# %% setup
import torch
import torch.nn.functional as F


# %% wrong: moves the labels instead of the mask: each position may still see one ahead and is asked for two ahead
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-2], target[:, 2:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril(diagonal=1)
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


# %% wrong: the target isn't shifted any more: the labels are what the decoder is given
def batch_loss(model, source, target, pad_id):
    decoder_input = labels = target[:, :-1]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).tril()
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


# %% wrong: the triangle is turned over, so only the future is seen
def batch_loss(model, source, target, pad_id):
    decoder_input, labels = target[:, :-1], target[:, 1:]
    L_t = decoder_input.shape[1]
    causal = torch.ones(L_t, L_t, dtype=torch.bool).triu()
    target_mask = (decoder_input != pad_id)[:, None, None, :] & causal
    source_mask = (source != pad_id)[:, None, None, :]
    logits = model(source, decoder_input, source_mask, target_mask)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id)


# %% right: the whole target is given to the mask, which is cut afterwards; loss by log_softmax
def batch_loss(model, source, target, pad_id):
    L = target.shape[1]
    place = torch.arange(L)
    mask = (place[:, None] >= place) & (target != pad_id)[:, None, None]
    z = model(source, target[:, :-1], source.ne(pad_id)[:, None, None], mask[..., :-1, :-1])
    labels = target[:, 1:].unsqueeze(-1)
    lost = -z.log_softmax(-1).gather(-1, labels).squeeze(-1)
    real = labels.squeeze(-1).ne(pad_id)
    return lost[real].mean()
