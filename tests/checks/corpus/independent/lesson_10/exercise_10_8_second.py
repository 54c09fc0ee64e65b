# %% setup
import torch
import torch.nn.functional as F


# %% wrong: the decoder is given the whole candidate and each position is scored on its own symbol, the start included
def candidate_scores(encode, decode, source, candidates, pad_id):
    K = candidates.shape[0]
    memory = encode(source).expand(K, -1, -1)
    log_probs = decode(candidates, memory).log_softmax(dim=-1)
    each = log_probs.gather(2, candidates.unsqueeze(2)).squeeze(2)
    return each.masked_fill(candidates == pad_id, 0).sum(dim=1)


# %% wrong: log-softmax over the positions and not over the vocabulary
def candidate_scores(encode, decode, source, candidates, pad_id):
    given, labels = candidates[:, :-1], candidates[:, 1:]
    memory = encode(source).repeat(len(candidates), 1, 1)
    log_probs = F.log_softmax(decode(given, memory), dim=1)
    each = log_probs.gather(-1, labels[..., None]).squeeze(-1)
    return (each * (labels != pad_id)).sum(-1)


# %% wrong: padding is judged by what the decoder is given, so the first padded label counts too
def candidate_scores(encode, decode, source, candidates, pad_id):
    given, labels = candidates[:, :-1], candidates[:, 1:]
    memory = encode(source).expand(len(candidates), -1, -1)
    log_probs = decode(given, memory).log_softmax(-1)
    each = log_probs.gather(-1, labels[..., None])[..., 0]
    return (each * (given != pad_id)).sum(-1)


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


# %% wrong: the scores are normalized over the candidates, so that they sum to 1 as probabilities
def candidate_scores(encode, decode, source, candidates, pad_id):
    given, labels = candidates[:, :-1], candidates[:, 1:]
    memory = encode(source).expand(len(candidates), -1, -1)
    log_probs = decode(given, memory).log_softmax(-1)
    each = log_probs.gather(-1, labels[..., None])[..., 0]
    return (each * (labels != pad_id)).sum(-1).log_softmax(0)


# %% two mistakes: the most probable symbol is scored and not the candidate's, and padding counts
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source).expand(len(candidates), -1, -1)
    log_probs = decode(candidates[:, :-1], memory).log_softmax(-1)
    return log_probs.max(dim=-1).values.sum(-1)


# %% right: position by position, the decoder is given longer and longer beginnings
def candidate_scores(encode, decode, source, candidates, pad_id):
    K, length = candidates.shape
    memory = torch.cat([encode(source)] * K)
    scores = torch.zeros(K)
    for t in range(1, length):
        last = decode(candidates[:, :t], memory)[:, -1].log_softmax(dim=-1)
        label = candidates[:, t]
        here = last[torch.arange(K), label]
        scores = scores + torch.where(label == pad_id, torch.zeros_like(here), here)
    return scores


# %% right: nll_loss with ignore_index, one candidate after another, padding and all
def candidate_scores(encode, decode, source, candidates, pad_id):
    memory = encode(source)
    rows = []
    for candidate in candidates.unbind(0):
        log_probs = F.log_softmax(decode(candidate[None, :-1], memory)[0], dim=-1)
        rows.append(F.nll_loss(log_probs, candidate[1:], ignore_index=pad_id, reduction="sum").neg())
    return torch.stack(rows)
