# %% setup
import torch
import torch.nn.functional as F


# %% wrong: the source is repeated before it is encoded, so that encode sees K rows
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source.repeat(len(candidates), 1))
    log_probs = decode(candidates[:, :-1], memory).log_softmax(-1)
    labels = candidates[:, 1:]
    each = log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    return each.masked_fill(labels == pad_id, 0.0).sum(-1)


# %% wrong: encodes the source again for every candidate in a loop
def candidate_scores(encode, decode, source, candidates, pad_id):
    scores = []
    for row in candidates:
        row = row[row != pad_id][None]
        log_probs = decode(row[:, :-1], encode(source)).log_softmax(-1)
        scores.append(log_probs.gather(-1, row[:, 1:, None]).sum())
    return torch.stack(scores)


# %% wrong: padding positions are added to the sum
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).repeat(len(candidates), 1, 1)
    log_probs = decode(candidates[:, :-1], memory).log_softmax(-1)
    return log_probs.gather(-1, candidates[:, 1:, None])[..., 0].sum(-1)


# %% wrong: takes the mean over the real labels (a length-normalized score)
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).repeat(len(candidates), 1, 1)
    labels = candidates[:, 1:]
    log_probs = decode(candidates[:, :-1], memory).log_softmax(-1)
    each = log_probs.gather(-1, labels[..., None])[..., 0]
    real = (labels != pad_id).float()
    return (each * real).sum(-1) / real.sum(-1)


# %% wrong: adds up raw logits, no log-softmax
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    labels = candidates[:, 1:]
    logits = decode(candidates[:, :-1], memory)
    return (logits.gather(-1, labels[..., None])[..., 0] * (labels != pad_id)).sum(1)


# %% wrong: returns the loss, the negative of what is asked for, from cross_entropy with reduction none
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    logits = decode(candidates[:, :-1], memory)
    loss = F.cross_entropy(logits.transpose(1, 2), candidates[:, 1:], ignore_index=pad_id, reduction="none")
    return loss.sum(1)


# %% wrong: not shifted, each position is scored on the symbol that it was given
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    given = candidates[:, :-1]
    log_probs = decode(given, memory).log_softmax(-1)
    each = log_probs.gather(-1, given[..., None])[..., 0]
    return (each * (given != pad_id)).sum(1)


# %% wrong: multiplies probabilities and returns the probability of each candidate, not its logarithm
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    labels = candidates[:, 1:]
    p = decode(candidates[:, :-1], memory).softmax(-1).gather(-1, labels[..., None])[..., 0]
    return torch.where(labels == pad_id, torch.ones_like(p), p).prod(1)


# %% wrong: decodes the whole candidate and reads the prediction one place too late
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    log_probs = decode(candidates, memory).log_softmax(-1)[:, 1:]
    labels = candidates[:, 1:]
    each = log_probs.gather(-1, labels[..., None])[..., 0]
    return (each * (labels != pad_id)).sum(1)


# %% wrong: padding is compared with 0 and not with pad_id
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    labels = candidates[:, 1:]
    log_probs = decode(candidates[:, :-1], memory).log_softmax(-1)
    return (log_probs.gather(-1, labels[..., None])[..., 0] * (labels != 0)).sum(1)


# %% two mistakes: padding is added, and the mean is taken over all places
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    log_probs = decode(candidates[:, :-1], memory).log_softmax(-1)
    return log_probs.gather(-1, candidates[:, 1:, None])[..., 0].mean(1)


# %% two mistakes: K rows are encoded, and the sign is that of a loss
def candidate_scores(encode, decode, source, candidates, pad_id):
    labels = candidates[:, 1:]
    memory = encode(source.expand(len(candidates), -1))
    log_probs = decode(candidates[:, :-1], memory).log_softmax(-1)
    return -(log_probs.gather(-1, labels[..., None])[..., 0] * (labels != pad_id)).sum(1)


# %% two mistakes: no log-softmax, and the end symbol is not counted
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    labels = candidates[:, 1:]
    logits = decode(candidates[:, :-1], memory)
    real = labels != pad_id
    last = real.sum(1, keepdim=True) - 1
    counts = real & (torch.arange(labels.shape[1]) != last)
    return (logits.gather(-1, labels[..., None])[..., 0] * counts).sum(1)


# %% right: one candidate at a time, without its padding, with one memory
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory, scores = encode(source), []
    for row in candidates:
        length = int((row != pad_id).sum())
        row = row[:length][None]
        z = decode(row[:, :-1], memory)[0]
        scores.append(-F.cross_entropy(z, row[0, 1:], reduction="sum"))
    return torch.stack(scores)


# %% right: cross_entropy with ignore_index, negated
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).repeat_interleave(len(candidates), dim=0)
    logits = decode(candidates[:, :-1], memory)
    loss = F.cross_entropy(logits.transpose(1, 2), candidates[:, 1:], ignore_index=pad_id, reduction="none")
    return -loss.sum(dim=1)


# %% right: the whole candidate is decoded, and the last position's logits are dropped
def candidate_scores(encode, decode, source, candidates, pad_id):
    K = len(candidates)
    z = decode(candidates, encode(source).expand(K, -1, -1))[:, :-1]
    log_probs = z - z.logsumexp(-1, keepdim=True)
    labels = candidates[:, 1:]
    one_hot = F.one_hot(labels, z.shape[-1]) * (labels != pad_id)[..., None]
    return (log_probs * one_hot).sum((1, 2))


# %% wrong: the logarithm of a softmax, which is minus infinity where the logits are far apart
def candidate_scores(encode, decode, source, candidates, pad_id):
    lab = candidates[:, 1:]
    m = encode(source).expand(len(candidates), -1, -1)
    lp = decode(candidates[:, :-1], m).softmax(-1).log()
    each = lp.gather(-1, lab[..., None])[..., 0]
    return each.masked_fill(lab == pad_id, 0.0).sum(-1)


# %% wrong: the probabilities of a candidate are multiplied, and the logarithm is taken at the end
def candidate_scores(encode, decode, source, candidates, pad_id):
    lab = candidates[:, 1:]
    m = encode(source).expand(len(candidates), -1, -1)
    lp = decode(candidates[:, :-1], m).log_softmax(-1)
    each = lp.exp().gather(-1, lab[..., None])[..., 0]
    return each.masked_fill(lab == pad_id, 1.0).prod(-1).log()
