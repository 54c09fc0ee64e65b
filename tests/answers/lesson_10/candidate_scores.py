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

# %% wrong: padding positions are added to the sum
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).repeat(len(candidates), 1, 1)
    log_probs = decode(candidates[:, :-1], memory).log_softmax(-1)
    return log_probs.gather(-1, candidates[:, 1:, None])[..., 0].sum(-1)

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

# %% wrong: multiplies probabilities and returns the probability of each candidate, not its logarithm
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    labels = candidates[:, 1:]
    p = decode(candidates[:, :-1], memory).softmax(-1).gather(-1, labels[..., None])[..., 0]
    return torch.where(labels == pad_id, torch.ones_like(p), p).prod(1)

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

# %% wrong: the memory is left with one row, so decode gets K rows and a memory of one
def candidate_scores(encode, decode, source, candidates, pad_id):
    given, labels = candidates[:, :-1], candidates[:, 1:]
    log_probs = decode(given, encode(source)).log_softmax(-1)
    each = log_probs.gather(-1, labels[..., None])[..., 0]
    return (each * (labels != pad_id)).sum(-1)

# %% wrong: one number for all candidates together
def candidate_scores(encode, decode, source, candidates, pad_id):
    given, labels = candidates[:, :-1], candidates[:, 1:]
    memory = encode(source).expand(len(candidates), -1, -1)
    logits = decode(given, memory)
    return -F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad_id, reduction="sum")

# %% two mistakes: the most probable symbol is scored and not the candidate's, and padding counts
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    log_probs = decode(candidates[:, :-1], memory).log_softmax(-1)
    return log_probs.max(dim=-1).values.sum(-1)

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

# %% right: nll_loss with ignore_index, one candidate after another, padding and all
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source)
    rows = []
    for candidate in candidates.unbind(0):
        log_probs = F.log_softmax(decode(candidate[None, :-1], memory)[0], dim=-1)
        rows.append(F.nll_loss(log_probs, candidate[1:], ignore_index=pad_id, reduction="sum").neg())
    return torch.stack(rows)
