# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% two mistakes: does not shift, so each symbol is compared with itself and not with the next one; and padding counts in the mean
def forced_loss(model, source, target, pad_id):
    logits = model(source, target)
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1))

# %% wrong: the padding of the labels is overwritten with -100 in a view of target, so the caller's target is changed
def forced_loss(model, source, target, pad_id):
    logits = model(source, target[:, :-1].clone())
    labels = target[:, 1:]
    labels[labels == pad_id] = -100
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

# %% right: picks out the real positions by a boolean mask first and then takes the log probabilities by gather
def forced_loss(model, source, target, pad_id):
    gold = target[:, 1:]
    real = gold != pad_id
    logits = model(source, target[:, :-1])[real]
    return -torch.log_softmax(logits, dim=-1).gather(1, gold[real].unsqueeze(1)).mean()

# %% right: logsumexp minus the score of the true symbol, averaged with weights that are 0 at padding
def forced_loss(model, source, target, pad_id):
    scores = model(source, target[:, :-1])
    gold = target[:, 1:]
    weight = (gold != pad_id).to(scores.dtype)
    safe = torch.where(gold == pad_id, torch.zeros_like(gold), gold)
    losses = torch.logsumexp(scores, dim=2) - torch.take_along_dim(scores, safe[..., None], dim=2)[..., 0]
    return torch.sum(losses * weight) / torch.sum(weight)

# %% right: log_softmax and gather by hand, padding left out with where
def forced_loss(model, source, target, pad_id):
    labels = target[:, 1:]
    log_p = model(source, target[:, :-1]).log_softmax(dim=-1)
    picked = log_p.gather(2, labels.unsqueeze(2)).squeeze(2)
    real = labels.ne(pad_id)
    return -torch.where(real, picked, torch.zeros_like(picked)).sum() / real.sum()

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: whole target in, compared with itself unshifted
def forced_loss(model, source, target, pad_id):
    logits = model(source, target)
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad_id)

# %% wrong: padding counts
def forced_loss(model, source, target, pad_id):
    logits = model(source, target[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())

# %% wrong: the last column is cut off the answers too, so the end symbol of the longest word is never predicted
def forced_loss(model, source, target, pad_id):
    logits = model(source, target[:, :-2])
    return F.cross_entropy(logits.flatten(0, 1), target[:, 1:-1].flatten(), ignore_index=pad_id)
