# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: takes the first L_q rows of the full causal square, as if the queries were the first positions
def causal_mask(L_q, L_k):
    full = torch.ones(L_k, L_k, dtype=torch.bool).tril()
    return full[:L_q]

# %% wrong: shifts the diagonal by the remainder of L_k by L_q, which is the difference only if L_k is below 2 * L_q
def causal_mask(L_q, L_k):
    return torch.ones(L_q, L_k, dtype=torch.bool).tril(diagonal=L_k % L_q)

# %% wrong: keeps the mask of the first call and cuts later ones out of it, so later calls with other sizes are wrong
_saved = {}


def causal_mask(L_q, L_k):
    if "mask" not in _saved:
        _saved["mask"] = torch.tril(torch.ones(L_q, L_k, dtype=torch.bool), diagonal=L_k - L_q)
    return _saved["mask"][:L_q, :L_k]

# %% wrong: every query also sees the next position (the comparison is off by one)
def causal_mask(L_q, L_k):
    i = torch.arange(L_k - L_q, L_k)[:, None]
    j = torch.arange(L_k)[None, :]
    return j <= i + 1

# %% right: no triangle function, a list of rows with i + L_k - L_q + 1 times True
def causal_mask(L_q, L_k):
    rows = []
    for i in range(L_q):
        seen = L_k - L_q + i + 1
        rows.append([True] * seen + [False] * (L_k - seen))
    return torch.tensor(rows, dtype=torch.bool)

# %% right: the future as an upper triangle, negated
def causal_mask(L_q, L_k):
    future = torch.triu(torch.ones(L_q, L_k), diagonal=L_k - L_q + 1)
    return torch.logical_not(future)
