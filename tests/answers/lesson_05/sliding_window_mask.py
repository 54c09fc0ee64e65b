# %% setup
import torch

# %% wrong: the offset of the queries is applied to the causal edge but not to the window's older edge, right only if L_q equals L_k
def sliding_window_mask(L_q, L_k, window):
    ones = torch.ones(L_q, L_k, dtype=torch.bool)
    return ones.tril(diagonal=L_k - L_q) & ones.triu(diagonal=1 - window)

# %% wrong: treats the queries as the first L_q positions instead of the last
def sliding_window_mask(L_q, L_k, window):
    distance = torch.arange(L_q)[:, None] - torch.arange(L_k)[None, :]
    return (distance >= 0) & (distance < window)

# %% wrong: slices from position - window + 1, which becomes negative in the early rows and then counts from the end, so these rows are wrong or empty
def sliding_window_mask(L_q, L_k, window):
    mask = torch.zeros(L_q, L_k, dtype=torch.bool)
    for i in range(L_q):
        position = L_k - L_q + i
        mask[i, position - window + 1 : position + 1] = True
    return mask

# %% wrong: cuts the positions into fixed blocks of window keys and sees only the own block
def sliding_window_mask(L_q, L_k, window):
    i = torch.arange(L_k - L_q, L_k)[:, None]
    j = torch.arange(L_k)[None, :]
    return (j <= i) & (i // window == j // window)

# %% two mistakes: forgets the causal edge, so all newer keys are seen; and the window is one key too narrow
def sliding_window_mask(L_q, L_k, window):
    i = torch.arange(L_q)[:, None] + (L_k - L_q)
    j = torch.arange(L_k)[None, :]
    return i - j < window - 1

# %% wrong: the query itself does not count
def sliding_window_mask(L_q, L_k, window):
    d = torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)
    return (d > 0) & (d <= window)

# %% right: a loop over the queries with a range that starts at 0 at the least
def sliding_window_mask(L_q, L_k, window):
    rows = []
    for position in range(L_k - L_q, L_k):
        seen = range(max(0, position + 1 - window), position + 1)
        rows.append([j in seen for j in range(L_k)])
    return torch.tensor(rows, dtype=torch.bool).reshape(L_q, L_k)

# %% right: two triangles with the same offset, numbers that are made boolean at the end
def sliding_window_mask(L_q, L_k, window):
    offset = L_k - L_q
    return torch.ones(L_q, L_k).tril(offset).triu(offset - window + 1).bool()

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: returns the plain causal mask as soon as the window is at least L_q, although old keys from the cache may lie outside the window
def sliding_window_mask(L_q, L_k, window):
    i = torch.arange(L_k - L_q, L_k).unsqueeze(1)
    j = torch.arange(L_k).unsqueeze(0)
    causal = j <= i
    if window >= L_q:
        return causal
    return causal & (i - j < window)

# %% right: the exclusive or of two lower triangles
def sliding_window_mask(L_q, L_k, window):
    ones = torch.ones(L_q, L_k, dtype=torch.bool)
    offset = L_k - L_q
    return ones.tril(offset) ^ ones.tril(offset - window)
