# %% setup
import torch
import torch.nn.functional as F

# %% wrong: takes the likeliest accepted pronunciation alone (max) instead of adding the probabilities
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    nll = nll.sum(-1).view(B, R)
    empty = (target == pad_id).all(-1)
    return nll.masked_fill(empty, float("inf")).min(-1).values.mean()

# %% wrong: the mean of the losses of a word's pronunciations, as if each had to be said in turn
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    nll = nll.sum(-1).view(B, R)
    real = (target != pad_id).any(-1)
    return (nll.sum(-1) / real.sum(-1)).mean()

# %% wrong: multiplies the probabilities of the pronunciations: adds their losses, the chance that all of them are said
def forced_loss(model, source, target, pad_id):
    total = 0
    for r in range(target.shape[1]):
        prefix, answer = target[:, r, :-1], target[:, r, 1:]
        logits = model(source, prefix)
        total = total + F.cross_entropy(logits.transpose(1, 2), answer, ignore_index=pad_id, reduction="sum")
    return total / target.shape[0]

# %% wrong: leaves the logarithms: exponentiates, adds up, takes the logarithm again, which is infinite where all probabilities are stored as 0
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    prefix = target[..., :-1].reshape(B * R, L - 1)
    answer = target[..., 1:].reshape(B * R, L - 1)
    probs = model(source.repeat_interleave(R, dim=0), prefix).softmax(-1)
    p = probs.gather(-1, answer[..., None]).squeeze(-1)
    p = torch.where(answer == pad_id, torch.ones_like(p), p).prod(-1).view(B, R)
    real = (target != pad_id).any(-1)
    return -(p * real).sum(-1).log().mean()

# %% wrong: as before, but a tiny number inside the logarithm keeps it finite: all probabilities below 1e-12 look alike
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    p = torch.exp(-nll.sum(-1)).view(B, R)
    p = p * (target != pad_id).any(-1)
    return -torch.log(p.sum(-1) + 1e-12).mean()

# %% wrong: a row of nothing but padding has the sum 0 and so counts as a pronunciation of probability 1
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    return -torch.logsumexp(-nll.sum(-1).view(B, R), dim=-1).mean()

# %% wrong: the mean over a pronunciation's symbols instead of the sum, so a long one counts as likely as a short one
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    answer = rows[:, 1:]
    nll = F.cross_entropy(logits.transpose(1, 2), answer, ignore_index=pad_id, reduction="none")
    count = (answer != pad_id).sum(-1)
    nll = (nll.sum(-1) / count.clamp(min=1)).view(B, R)
    nll = nll.masked_fill((count == 0).view(B, R), float("inf"))
    return -torch.logsumexp(-nll, dim=-1).mean()

# %% wrong: repeats the sources as a block (s1 s2 s1 s2) while the pronunciations of one word lie side by side
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.view(-1, L)
    logits = model(source.repeat(R, 1), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    nll = nll.sum(-1).view(B, R)
    nll = nll.masked_fill((target == pad_id).all(-1), torch.inf)
    return -torch.logsumexp(-nll, dim=-1).mean()

# %% wrong: the padding behind the end symbol is scored like any symbol
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    logp = F.log_softmax(logits, -1).gather(-1, rows[:, 1:, None])[..., 0].sum(-1).view(B, R)
    logp = logp.masked_fill((target == pad_id).all(-1), float("-inf"))
    return -torch.logsumexp(logp, -1).mean()

# %% wrong: hides the loss where the prefix is padding, not where the answer is: the one padding right after each end symbol is scored
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    prefix = target[:, :, :-1].reshape(B * R, -1)
    answer = target[:, :, 1:].reshape(B * R, -1)
    logp = model(source.repeat_interleave(R, 0), prefix).log_softmax(-1)
    logp = logp.gather(2, answer.unsqueeze(2)).squeeze(2)
    logp = logp.masked_fill(prefix == pad_id, 0.0).sum(1).view(B, R)
    logp = logp.masked_fill(target[:, :, 0] == pad_id, float("-inf"))
    return -logp.logsumexp(1).mean()

# %% wrong: the mean of the probabilities of a word's pronunciations instead of their sum
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    logp = -nll.sum(-1).view(B, R)
    real = target[:, :, 0] != pad_id
    logp = logp.masked_fill(~real, float("-inf"))
    return -(torch.logsumexp(logp, -1) - real.sum(-1).log()).mean()

# %% wrong: drops the last column of the targets, so the end symbol of the longest pronunciations isn't scored
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    prefix, answer = rows[:, :-2], rows[:, 1:-1]
    logits = model(source.repeat_interleave(R, 0), prefix)
    nll = F.cross_entropy(logits.transpose(1, 2), answer, ignore_index=pad_id, reduction="none")
    nll = nll.sum(-1).view(B, R)
    nll = nll.masked_fill((target == pad_id).all(-1), torch.inf)
    return -torch.logsumexp(-nll, dim=-1).mean()

# %% wrong: no shift: the logits at a position are compared with the symbol that goes in there
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows)
    nll = F.cross_entropy(logits.transpose(1, 2), rows, ignore_index=pad_id, reduction="none")
    nll = nll.sum(-1).view(B, R)
    nll = nll.masked_fill((target == pad_id).all(-1), torch.inf)
    return -torch.logsumexp(-nll, dim=-1).mean()

# %% wrong: takes padding to be 0 in the mask of the empty rows, whatever pad_id is
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    logp = -nll.sum(-1).view(B, R)
    logp = logp.masked_fill(target.sum(-1) == 0, float("-inf"))
    return -torch.logsumexp(logp, dim=-1).mean()

# %% wrong: treats the pronunciations as independent events, 1 - (1 - p1)(1 - p2), computed from the probabilities
def forced_loss(model, source, target, pad_id):
    losses = []
    for b in range(target.shape[0]):
        none = 1.0
        for row in target[b]:
            row = row[row != pad_id]
            if len(row) == 0:
                continue
            logp = model(source[b : b + 1], row[None, :-1])[0].log_softmax(-1)
            p = logp.gather(1, row[1:, None]).sum().exp()
            none = none * (1 - p)
        losses.append(-torch.log(1 - none))
    return torch.stack(losses).mean()

# %% wrong: minus the logarithm of the mean probability of the words, instead of the mean of the logarithms
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    logp = -nll.sum(-1)
    logp = logp.masked_fill(rows[:, 0] == pad_id, float("-inf"))
    return torch.log(torch.tensor(float(B))) - torch.logsumexp(logp, 0)

# %% wrong: the sum over the words instead of the mean
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    nll = nll.sum(-1).masked_fill(rows[:, 0] == pad_id, torch.inf).view(B, R)
    return -torch.logsumexp(-nll, dim=-1).sum()

# %% wrong: hides the rows of padding with -100 instead of minus infinity, which is more than the logarithm of a very unlikely pronunciation
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    logp = -nll.sum(-1).view(B, R)
    logp = torch.where((target == pad_id).all(-1), torch.full_like(logp, -100.0), logp)
    return -torch.logsumexp(logp, dim=-1).mean()

# %% wrong: adds the probabilities symbol by symbol: at each position over all pronunciations, then multiplies over the positions
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    prefix = target[:, :, :-1].reshape(B * R, L - 1)
    answer = target[:, :, 1:]
    logp = model(source.repeat_interleave(R, 0), prefix).log_softmax(-1).view(B, R, L - 1, -1)
    logp = logp.gather(-1, answer[..., None])[..., 0]
    logp = logp.masked_fill(answer == pad_id, float("-inf"))
    step = torch.logsumexp(logp, dim=1)
    step = torch.where((answer == pad_id).all(1), torch.zeros_like(step), step)
    return -step.sum(-1).mean()

# %% wrong: only the first pronunciation of each word counts
def forced_loss(model, source, target, pad_id):
    first = target[:, 0]
    logits = model(source, first[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), first[:, 1:], ignore_index=pad_id, reduction="none")
    return nll.sum(-1).mean()

# %% wrong: gives the number back with item(), so no gradient flows
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    nll = nll.sum(-1).masked_fill(rows[:, 0] == pad_id, torch.inf).view(B, R)
    losses = [-torch.logsumexp(-n, 0).item() for n in nll]
    return torch.tensor(sum(losses) / B)

# %% wrong: all rows of all words are flattened, and the mean cross-entropy of their symbols is taken: every pronunciation is asked for
def forced_loss(model, source, target, pad_id):
    R = target.shape[1]
    rows = target.flatten(0, 1)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), ignore_index=pad_id)

# %% two mistakes: the mean over the symbols of a pronunciation, and the likeliest one alone
def forced_loss(model, source, target, pad_id):
    losses = []
    for s, word in zip(source, target):
        best = []
        for row in word:
            row = row[row != pad_id]
            if len(row):
                logits = model(s[None], row[None, :-1])[0]
                best.append(F.cross_entropy(logits, row[1:]))
        losses.append(torch.stack(best).min())
    return torch.stack(losses).mean()

# %% two mistakes: a row of padding counts as a pronunciation of probability 1, and the sources are repeated as a block
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.flatten(0, 1)
    logits = model(source.repeat(R, 1), rows[:, :-1])
    nll = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), ignore_index=pad_id, reduction="none")
    nll = nll.view(B, R, L - 1).sum(-1)
    return -torch.logsumexp(-nll, dim=1).mean()

# %% two mistakes: leaves the logarithms, and a row of padding counts as a pronunciation of probability 1
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    rows = target.reshape(B * R, L)
    logits = model(source.repeat_interleave(R, 0), rows[:, :-1])
    nll = F.cross_entropy(logits.transpose(1, 2), rows[:, 1:], ignore_index=pad_id, reduction="none")
    p = torch.exp(-nll.sum(-1)).view(B, R).sum(-1)
    return -torch.log(p).mean()

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

# %% right: a loop over words and pronunciations, each without its padding, gathered with logaddexp
def forced_loss(model, source, target, pad_id):
    loss = 0.0
    for b in range(len(source)):
        total = None
        for row in target[b]:
            length = int((row != pad_id).sum())
            if length == 0:
                break
            row = row[:length]
            logp = torch.log_softmax(model(source[b][None], row[None, :-1])[0], dim=-1)
            logp = logp[torch.arange(length - 1), row[1:]].sum()
            total = logp if total is None else torch.logaddexp(total, logp)
        loss = loss - total
    return loss / len(source)

# %% right: the model sees the real rows only, and the whole targets; the last logits are dropped; a running logaddexp over the columns
def forced_loss(model, source, target, pad_id):
    real = target[:, :, 0] != pad_id  # (B, R)
    word, _ = real.nonzero(as_tuple=True)
    rows = target[real]
    logits = model(source[word], rows)[:, :-1]
    answer = rows[:, 1:]
    chosen = logits.gather(-1, answer[..., None])[..., 0] - logits.logsumexp(-1)
    logp = torch.where(answer != pad_id, chosen, torch.zeros_like(chosen)).sum(-1)
    table = torch.full(real.shape, -torch.inf, dtype=logp.dtype)
    table = table.masked_scatter(real, logp)
    total = table[:, 0]
    for r in range(1, table.shape[1]):
        total = torch.logaddexp(total, table[:, r])
    return total.neg().mean()

# %% right: blocks of sources with the targets turned to match, and the softmax trick by hand: the best one's logarithm plus the log of a sum of ratios
def forced_loss(model, source, target, pad_id):
    B, R, L = target.shape
    turned = target.transpose(0, 1).reshape(R * B, L)
    logits = model(source.repeat(R, 1), turned[:, :-1])
    answer = turned[:, 1:]
    symbols = F.one_hot(answer, logits.shape[-1]).to(logits.dtype)
    logp = torch.einsum("nlv,nlv,nl->n", logits.log_softmax(-1), symbols, (answer != pad_id).to(logits.dtype))
    logp = logp.view(R, B)
    logp = logp + torch.where((target[:, :, 1] == pad_id).T, -1e30, 0.0)
    best = logp.max(dim=0).values
    return -(best + (logp - best).exp().sum(0).log()).mean()

# %% right: one call of the model for each place in the list, cross entropy with the sum, stacked; nothing is hidden, rows of padding are left out word by word
def forced_loss(model, source, target, pad_id):
    columns = []
    for rows in target.unbind(1):
        logits = model(source, rows[:, :-1]).permute(0, 2, 1)
        nll = F.cross_entropy(logits, rows[:, 1:], reduction="none", ignore_index=pad_id)
        columns.append(-nll.sum(1))
    logp = torch.stack(columns, 1)
    number = (target != pad_id).any(2).sum(1).tolist()
    words = [torch.logsumexp(logp[b, :n], 0) for b, n in enumerate(number)]
    return -sum(words) / len(words)
