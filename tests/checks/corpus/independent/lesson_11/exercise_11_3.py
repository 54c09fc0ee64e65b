# %% setup
import torch


# %% wrong: the row is the beam's number within its word: every word is given the rows of the first
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[1]
    scores = totals.unsqueeze(-1) + log_probs.reshape(B, K, V)
    new_totals, idx = torch.topk(scores.reshape(B, -1), K, dim=1)
    return new_totals, idx % V, (idx // V).reshape(-1)


# %% wrong: each beam keeps its own best symbol, so no beam ever gets two children
def beam_step(totals, log_probs):
    B, K = totals.shape
    best, symbols = log_probs.max(dim=-1)
    new_totals = totals + best.reshape(B, K)
    order = new_totals.argsort(dim=1, descending=True)
    rows = order + torch.arange(B)[:, None] * K
    return new_totals.gather(1, order), symbols.reshape(B, K).gather(1, order), rows.flatten()


# %% wrong: divides by the number of beams where the number of symbols belongs
def beam_step(totals, log_probs):
    B, K = totals.shape
    scores = (totals.reshape(-1, 1) + log_probs).reshape(B, -1)
    new_totals, idx = scores.topk(K, dim=1)
    rows = idx // K + torch.arange(B).unsqueeze(1) * K
    return new_totals, idx % K, rows.reshape(-1)


# %% wrong: forgets what the beams had before
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[1]
    new_totals, idx = log_probs.reshape(B, K * V).topk(K)
    return new_totals, idx % V, (idx // V + K * torch.arange(B)[:, None]).flatten()


# %% wrong: takes the best of the whole batch, so that one word can crowd out another
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[1]
    scores = (totals.reshape(-1, 1) + log_probs).flatten()
    new_totals, idx = scores.topk(B * K)
    return new_totals.reshape(B, K), (idx % V).reshape(B, K), idx // V


# %% wrong: returns the totals of the beams before the step
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[1]
    _, idx = (totals[:, :, None] + log_probs.reshape(B, K, V)).flatten(1).topk(K)
    beam = idx // V
    return totals.gather(1, beam), idx % V, (beam + K * torch.arange(B)[:, None]).flatten()


# %% two mistakes: rows within the word, and the totals left out
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[1]
    new_totals, idx = log_probs.reshape(B, K * V).topk(K)
    return new_totals, idx % V, (idx // V).flatten()


# %% two mistakes: the lowest first, and rows as a table
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[1]
    new_totals, idx = (totals[:, :, None] + log_probs.reshape(B, K, V)).flatten(1).topk(K)
    new_totals, idx = new_totals.flip(1), idx.flip(1)
    return new_totals, idx % V, idx // V + K * torch.arange(B)[:, None]


# %% right: a loop over the words
def beam_step(totals, log_probs):
    B, K = totals.shape
    out = []
    for b in range(B):
        part = totals[b][:, None] + log_probs[b * K : (b + 1) * K]
        values, idx = part.reshape(-1).topk(K)
        beam = torch.div(idx, part.shape[1], rounding_mode="floor")
        out.append((values, idx - beam * part.shape[1], beam + b * K))
    values, symbols, rows = zip(*out)
    return torch.stack(values), torch.stack(symbols), torch.cat(rows)


# %% right: a table of row numbers is picked from, beside the symbols
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[1]
    row_of = torch.arange(B * K).reshape(B, K, 1).expand(B, K, V).reshape(B, K * V)
    symbol_of = torch.arange(V).expand(B, K, V).reshape(B, K * V)
    scores = (log_probs.reshape(B, K, V) + totals.reshape(B, K, 1)).reshape(B, K * V)
    values, idx = scores.sort(dim=1, descending=True)
    values, idx = values[:, :K], idx[:, :K]
    return values, symbol_of.gather(1, idx), row_of.gather(1, idx).reshape(-1)


# %% right: topk of each beam first, then of the survivors
def beam_step(totals, log_probs):
    B, K = totals.shape
    few = min(K, log_probs.shape[1])
    values, symbols = log_probs.topk(few, dim=1)
    values = (values + totals.reshape(-1, 1)).reshape(B, K * few)
    best, idx = values.topk(K, dim=1)
    symbols = symbols.reshape(B, K * few).gather(1, idx)
    return best, symbols, (idx // few + K * torch.arange(B)[:, None]).reshape(-1)


# %% wrong: each beam goes on with its own best symbol, topk(1) along the symbols
def beam_step(totals, log_probs):
    B, K = totals.shape
    c = totals[:, :, None] + log_probs.view(B, K, -1)
    v, s = c.topk(1, -1)
    return v[..., 0], s[..., 0], torch.arange(B * K)
