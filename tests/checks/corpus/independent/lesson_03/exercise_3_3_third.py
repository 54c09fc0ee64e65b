# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance


# %% wrong: divides the sum over the answers by the number of real symbols of the whole target, so the start symbols count in the denominator
def forced_loss(model, source, target, pad_id):
    logits = model(source, target[:, :-1])
    total = F.cross_entropy(logits.transpose(1, 2), target[:, 1:], ignore_index=pad_id, reduction="sum")
    return total / (target != pad_id).sum()


# %% wrong: marks the padding with -100 in a slice of target, which is a view, so the loss is right but the argument is changed
def forced_loss(model, source, target, pad_id):
    logits = model(source, target[:, :-1].clone())
    answers = target[:, 1:]
    answers[answers == pad_id] = -100
    return F.cross_entropy(logits.transpose(1, 2), answers)


# %% wrong: chooses the positions by the inputs that are not padding, so behind the end symbol of a shorter target one padding answer counts
def forced_loss(model, source, target, pad_id):
    prefix, answers = target[:, :-1], target[:, 1:]
    logits = model(source, prefix)
    real = prefix != pad_id
    return F.cross_entropy(logits[real], answers[real])


# %% wrong: brings the logits into the shape (B, V, L) by a reshape instead of a transpose, which scrambles symbols and positions
def forced_loss(model, source, target, pad_id):
    logits = model(source, target[:, :-1])
    B, L, V = logits.shape
    return F.cross_entropy(logits.reshape(B, V, L), target[:, 1:], ignore_index=pad_id)


# %% right: takes the log-probabilities of the answers by gather and their masked mean
def forced_loss(model, source, target, pad_id):
    answers = target[:, 1:]
    log_probs = torch.log_softmax(model(source, target[:, :-1]), dim=-1)
    losses = -log_probs.gather(2, answers.unsqueeze(-1)).squeeze(-1)
    real = answers.ne(pad_id)
    return torch.where(real, losses, torch.zeros_like(losses)).sum() / real.sum()


# %% right: collects, word by word, the logsumexp less the logit of the answer up to the word's own length, and takes one mean of all
def forced_loss(model, source, target, pad_id):
    logits = model(source, target[:, :-1])
    losses = []
    for rows, symbols in zip(logits, target):
        length = int((symbols != pad_id).sum()) - 1
        for t in range(length):
            losses.append(rows[t].logsumexp(dim=0) - rows[t, symbols[t + 1]])
    return torch.stack(losses).mean()
