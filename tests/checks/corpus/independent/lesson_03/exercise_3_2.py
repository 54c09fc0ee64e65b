# %% setup
import torch
import torch.nn.functional as F

# %% wrong: flips the filters, as a convolution in the signal processor's sense does, so entry 0 meets the letter on the right
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous[:, None], filters.flip(-1)[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: shifts with torch.roll, so the weights wrap around from one end of the word to the other
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = sum(torch.roll(previous, -o, dims=1)[:, :, None] * filters[:, r + o] for o in range(-r, r + 1))
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: pads only on the left, so every window ends at its letter
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    width = filters.shape[1]
    windows = F.pad(previous, (width - 1, 0)).unfold(1, width, 1)
    hidden = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + windows @ filters.T @ W_f.T)
    return torch.softmax((hidden @ w_v).masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: adds the location term after the tanh
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous[:, None], filters[:, None], padding=r).transpose(1, 2)
    scores = (torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: forgets the mask, so padding gets weight
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous[:, None], filters[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores, dim=-1)

# %% wrong: leaves the location out altogether and gives the weights of 3.1
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% two mistakes: flips the filters; and masks after the softmax without dividing again
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r = filters.shape[1] // 2
    f = F.conv1d(previous[:, None], filters.flip(-1)[:, None], padding=r).transpose(1, 2)
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores, dim=-1) * mask

# %% two mistakes: every window begins at its letter; and there is no tanh
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    width = filters.shape[1]
    windows = F.pad(previous, (0, width - 1)).unfold(1, width, 1)
    scores = ((state @ W_q.T)[:, None] + encoded @ W_k.T + windows @ filters.T @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% right: adds up shifted slices of a padded row, one for each offset
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    n, width = filters.shape
    L, r = previous.shape[1], width // 2
    zeros = previous.new_zeros(len(previous), r)
    wide = torch.cat((zeros, previous, zeros), dim=1)
    f = previous.new_zeros(len(previous), L, n)
    for o in range(width):
        f = f + wide[:, o : o + L, None] * filters[:, o]
    scores = torch.tanh((state @ W_q.T)[:, None] + encoded @ W_k.T + f @ W_f.T) @ w_v
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% right: builds the matrix that takes weights to features, and joins the three projections into one
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    (n, width), L = filters.shape, previous.shape[1]
    offset = torch.arange(L)[None, :] - torch.arange(L)[:, None] + width // 2
    inside = (offset >= 0) & (offset < width)
    table = filters[:, offset.clamp(0, width - 1)] * inside
    f = torch.einsum("kjm,bm->bjk", table, previous)
    s = state[:, None].expand(-1, L, -1)
    scores = torch.tanh(torch.cat((s, encoded, f), -1) @ torch.cat((W_q, W_k, W_f), 1).T) @ w_v
    return torch.softmax(scores + mask.to(scores.dtype).log(), dim=-1)

# %% right: word by word and letter by letter, with Python's own loops
def location_weights(state, encoded, previous, filters, W_q, W_k, W_f, w_v, mask):
    r, rows = filters.shape[1] // 2, []
    for s, h, before, real in zip(state, encoded, previous, mask):
        powers = []
        for j in range(len(before)):
            f = W_f.new_zeros(len(filters))
            for o in range(-r, r + 1):
                if 0 <= j + o < len(before):
                    f = f + filters[:, r + o] * before[j + o]
            e = w_v @ torch.tanh(W_q @ s + W_k @ h[j] + W_f @ f)
            powers.append(e.exp() if real[j] else 0 * e)
        rows.append(torch.stack(powers) / sum(powers))
    return torch.stack(rows)
