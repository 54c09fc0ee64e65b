# %% setup
import torch

# %% wrong: forgets what the beams had before
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[1]
    new_totals, idx = log_probs.reshape(B, K * V).topk(K)
    return new_totals, idx % V, (idx // V + K * torch.arange(B)[:, None]).flatten()

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

# %% wrong: each beam goes on with its own best symbol, topk(1) along the symbols
def beam_step(totals, log_probs):
    B, K = totals.shape
    c = totals[:, :, None] + log_probs.view(B, K, -1)
    v, s = c.topk(1, -1)
    return v[..., 0], s[..., 0], torch.arange(B * K)

# %% wrong: the rows of word b begin at b * V instead of b * K
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[-1]
    best, at = (totals.unsqueeze(2) + log_probs.reshape(B, K, V)).reshape(B, -1).topk(K)
    return best, at % V, (at // V + torch.arange(B).unsqueeze(1) * V).reshape(-1)

# %% wrong: multiplies the beam's log-probability by that of the symbol
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[-1]
    best, at = (totals.unsqueeze(2) * log_probs.reshape(B, K, V)).reshape(B, -1).topk(K)
    return best, at % V, (at // V + torch.arange(B).unsqueeze(1) * K).reshape(-1)

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

# %% right: sorts everything, the beam and the symbol by divmod of unravelled indices
def beam_step(totals, log_probs):
    B, K = totals.shape
    every = (totals.reshape(-1, 1) + log_probs).unflatten(0, (B, K))
    values, at = every.flatten(1).sort(dim=1, descending=True)
    beam, symbol = torch.unravel_index(at[:, :K], every.shape[1:])
    rows = torch.arange(B * K).reshape(B, K).gather(1, beam)
    return values[:, :K], symbol, rows.ravel()

# %% right: a sort, the place split by unravel_index
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.size(1)
    table = torch.add(log_probs.to(totals.dtype), totals.reshape(B * K, 1)).reshape(B, -1)
    order = table.argsort(dim=1, descending=True)[:, :K]
    flat = (order + torch.arange(B).unsqueeze(1) * K * V).reshape(-1)
    rows, symbols = torch.unravel_index(flat, (B * K, V))
    return table.gather(1, order), symbols.view(B, K), rows
