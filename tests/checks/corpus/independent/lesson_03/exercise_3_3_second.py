# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: each word's loss is averaged first and then the words, so sounds of short words count more when lengths differ
def forced_loss(model, source, target, pad_id):
    prefix, labels = target[:, :-1], target[:, 1:]
    logits = model(source, prefix)
    losses = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    real = (labels != pad_id).to(losses.dtype)
    return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()

# %% wrong: padding is recognized in the inputs instead of the labels, so the padding after the end symbol of a short word is counted
def forced_loss(model, source, target, pad_id):
    prefix, labels = target[:, :-1], target[:, 1:]
    logits = model(source, prefix)
    real = prefix != pad_id
    return F.cross_entropy(logits[real], labels[real])

# %% wrong: the padding of the labels is overwritten with -100 in a view of target, so the caller's target is changed
def forced_loss(model, source, target, pad_id):
    logits = model(source, target[:, :-1].clone())
    labels = target[:, 1:]
    labels[labels == pad_id] = -100
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

# %% wrong: ignores the symbol 0 instead of pad_id, right only if pad_id is 0
def forced_loss(model, source, target, pad_id):
    logits = model(source, target[:, :-1])
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), target[:, 1:].reshape(-1), ignore_index=0)

# %% right: log_softmax and gather by hand, padding left out with where
def forced_loss(model, source, target, pad_id):
    labels = target[:, 1:]
    log_p = model(source, target[:, :-1]).log_softmax(dim=-1)
    picked = log_p.gather(2, labels.unsqueeze(2)).squeeze(2)
    real = labels.ne(pad_id)
    return -torch.where(real, picked, torch.zeros_like(picked)).sum() / real.sum()

# %% right: summed word by word over the real labels, then divided once by their number
def forced_loss(model, source, target, pad_id):
    logits = model(source, target[:, :-1])
    total, count = 0.0, 0
    for word_logits, word_labels in zip(logits, target[:, 1:]):
        n = int((word_labels != pad_id).sum())
        scores = word_logits[:n]
        total = total + (torch.logsumexp(scores, dim=-1) - scores[torch.arange(n), word_labels[:n]]).sum()
        count += n
    return total / count
