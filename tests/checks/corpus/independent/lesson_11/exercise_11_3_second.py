# %% setup
import torch


# %% wrong: the rows of the log-probabilities are read as (K, B), beam after beam, instead of word after word
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[-1]
    every = totals.unsqueeze(2) + log_probs.reshape(K, B, V).transpose(0, 1)
    best, at = every.reshape(B, K * V).topk(K)
    return best, at % V, (at // V + torch.arange(B).unsqueeze(1) * K).reshape(-1)


# %% wrong: a beam that doesn't exist yet (minus infinity) is taken for one with log-probability 0
def beam_step(totals, log_probs):
    B, K = totals.shape
    V = log_probs.shape[-1]
    totals = torch.where(totals.isinf(), torch.zeros_like(totals), totals)
    best, at = (totals.unsqueeze(2) + log_probs.reshape(B, K, V)).reshape(B, -1).topk(K)
    return best, at % V, (at // V + torch.arange(B).unsqueeze(1) * K).reshape(-1)


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


# %% wrong: new_totals are made anew from Python numbers, so they're float32 whatever the dtype of totals
def beam_step(totals, log_probs):
    B, K = totals.shape
    new, symbols, rows = [], [], []
    for b in range(B):
        options = [
            (float(totals[b, k]) + float(p), v, b * K + k)
            for k in range(K)
            for v, p in enumerate(log_probs[b * K + k])
        ]
        options.sort(key=lambda o: -o[0])
        new.append([o[0] for o in options[:K]])
        symbols.append([o[1] for o in options[:K]])
        rows.extend(o[2] for o in options[:K])
    return torch.tensor(new), torch.tensor(symbols), torch.tensor(rows)


# %% right: a stable sort of all candidates with Python lists, word by word, infinities included
def beam_step(totals, log_probs):
    B, K = totals.shape
    new, symbols, rows = [], [], []
    for b in range(B):
        options = [
            (float(totals[b, k]) + float(p), v, b * K + k)
            for k in range(K)
            for v, p in enumerate(log_probs[b * K + k])
        ]
        options.sort(key=lambda o: -o[0])
        new.append([o[0] for o in options[:K]])
        symbols.append([o[1] for o in options[:K]])
        rows.extend(o[2] for o in options[:K])
    return torch.tensor(new, dtype=totals.dtype), torch.tensor(symbols), torch.tensor(rows)


# %% right: sorts everything, the beam and the symbol by divmod of unravelled indices
def beam_step(totals, log_probs):
    B, K = totals.shape
    every = (totals.reshape(-1, 1) + log_probs).unflatten(0, (B, K))
    values, at = every.flatten(1).sort(dim=1, descending=True)
    beam, symbol = torch.unravel_index(at[:, :K], every.shape[1:])
    rows = torch.arange(B * K).reshape(B, K).gather(1, beam)
    return values[:, :K], symbol, rows.ravel()
