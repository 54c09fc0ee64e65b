# %% setup
import torch
import torch.nn.functional as F

from course_utils.metrics import edit_distance

# %% wrong: all rows of all words are flattened, and the mean cross-entropy of their symbols is taken: every pronunciation is asked for
def forced_loss(model, source, target, pad_id):
    R = target.shape[1]
    rows = target.flatten(0, 1)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), ignore_index=pad_id)

# %% wrong: multiplies the probabilities of the symbols and adds up the pronunciations, without logarithms until the end, so tiny probabilities are rounded to 0
def forced_loss(model, source, target, pad_id):
    total = 0
    for r in range(target.shape[1]):
        rows = target[:, r]
        probs = model(source, rows[:, :-1]).softmax(-1)
        gold = rows[:, 1:]
        picked = probs.gather(-1, gold[..., None])[..., 0]
        picked = torch.where(gold == pad_id, torch.ones_like(picked), picked)
        there = (gold != pad_id).any(-1)
        total = total + picked.prod(-1) * there
    return -total.log().mean()

# %% wrong: a row that is all padding gets the log probability 0, so a word with fewer pronunciations looks as if it were certain
def forced_loss(model, source, target, pad_id):
    per_row = []
    for r in range(target.shape[1]):
        logits = model(source, target[:, r, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), target[:, r, 1:], ignore_index=pad_id, reduction="none")
        per_row.append(-loss.sum(1))
    return -torch.logsumexp(torch.stack(per_row, 1), 1).mean()

# %% wrong: takes for each word the pronunciation with the smallest loss, as in the error rate
def forced_loss(model, source, target, pad_id):
    best = []
    for r in range(target.shape[1]):
        gold = target[:, r, 1:]
        logits = model(source, target[:, r, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), gold, ignore_index=pad_id, reduction="none").sum(1)
        best.append(torch.where((gold == pad_id).all(1), torch.full_like(loss, float("inf")), loss))
    return torch.stack(best).min(0).values.mean()

# %% two mistakes: the log probability of a pronunciation is the mean over its symbols; and the result is summed over the words
def forced_loss(model, source, target, pad_id):
    losses = []
    for b in range(target.shape[0]):
        scores = []
        for row in target[b]:
            row = row[row != pad_id]
            if len(row) == 0:
                continue
            logits = model(source[b : b + 1], row[None, :-1])[0]
            scores.append(-F.cross_entropy(logits, row[1:]))
        losses.append(-torch.stack(scores).logsumexp(0))
    return sum(losses)

# %% right: word by word and pronunciation by pronunciation, with the padding cut off
def forced_loss(model, source, target, pad_id):
    losses = []
    for b in range(target.shape[0]):
        scores = []
        for row in target[b]:
            row = row[row != pad_id]
            if len(row) == 0:
                continue
            logits = model(source[b : b + 1], row[None, :-1])[0]
            scores.append(-F.cross_entropy(logits, row[1:], reduction="sum"))
        losses.append(-torch.stack(scores).logsumexp(0))
    return sum(losses) / len(losses)

# %% right: one call of the model for each place in the list of pronunciations, added up by logaddexp
def forced_loss(model, source, target, pad_id):
    total = None
    for r in range(target.shape[1]):
        gold = target[:, r, 1:]
        real = gold != pad_id
        log_p = model(source, target[:, r, :-1]).log_softmax(-1)
        picked = torch.where(real, log_p.gather(-1, gold[..., None])[..., 0], torch.zeros(()))
        this = torch.where(real.any(1), picked.sum(1), torch.tensor(-1e9))
        total = this if total is None else torch.logaddexp(total, this)
    return -total.mean()

# %% right: all pronunciations in one batch, the missing ones hidden by minus infinity before a logsumexp
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    many = source[:, None].expand(B, R, source.shape[1]).reshape(B * R, -1)
    flat = target.reshape(B * R, L)
    log_p = model(many, flat[:, :-1]).log_softmax(-1)
    gold = flat[:, 1:]
    picked = log_p.gather(2, gold.unsqueeze(2)).squeeze(2) * (gold != pad_id)
    score = picked.sum(1).reshape(B, R)
    score = score.masked_fill((target == pad_id).all(-1), float("-inf"))
    return -torch.logsumexp(score, dim=-1).mean()
