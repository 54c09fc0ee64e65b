# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: the lower bound of the window ignores the offset L_k - L_q, so with a cache a query sees too many old keys
def sliding_window_mask(L_q, L_k, window):
    causal = torch.ones(L_q, L_k, dtype=torch.bool).tril(diagonal=L_k - L_q)
    return causal.triu(diagonal=1 - window)

# %% wrong: returns the plain causal mask as soon as the window is at least L_q, although old keys from the cache may lie outside the window
def sliding_window_mask(L_q, L_k, window):
    i = torch.arange(L_k - L_q, L_k).unsqueeze(1)
    j = torch.arange(L_k).unsqueeze(0)
    causal = j <= i
    if window >= L_q:
        return causal
    return causal & (i - j < window)

# %% wrong: a window on both sides, so queries see the future up to window - 1 positions ahead
def sliding_window_mask(L_q, L_k, window):
    i = torch.arange(L_q)[:, None] + (L_k - L_q)
    j = torch.arange(L_k)[None, :]
    return (i - j).abs() < window

# %% wrong: does not count the query's own position, so a query sees window + 1 keys
def sliding_window_mask(L_q, L_k, window):
    position = torch.arange(L_k - L_q, L_k)[:, None]
    keys = torch.arange(L_k)
    return (keys <= position) & (keys >= position - window)

# %% right: the exclusive or of two lower triangles
def sliding_window_mask(L_q, L_k, window):
    ones = torch.ones(L_q, L_k, dtype=torch.bool)
    offset = L_k - L_q
    return ones.tril(offset) ^ ones.tril(offset - window)

# %% right: row by row with slices, the start bounded below by 0
def sliding_window_mask(L_q, L_k, window):
    mask = torch.zeros(L_q, L_k, dtype=torch.bool)
    for row in range(L_q):
        end = L_k - L_q + row + 1
        mask[row, max(0, end - window) : end] = True
    return mask
