# %% setup
import torch


# %% wrong: slices from position - window + 1 without stopping at 0, so a negative start counts from the right end and the first queries see nothing or the wrong keys
def sliding_window_mask(L_q, L_k, window):
    mask = torch.zeros(L_q, L_k, dtype=torch.bool)
    for i in range(L_q):
        position = L_k - L_q + i
        mask[i, position - window + 1 : position + 1] = True
    return mask


# %% wrong: cuts the window down to the number of queries, so with a cache a window larger than L_q sees too few keys
def sliding_window_mask(L_q, L_k, window):
    window = min(window, L_q)
    distance = torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)[None, :]
    return (distance >= 0) & (distance < window)


# %% wrong: shifts the causal border by the cached keys but not the lower border of the window, so with a cache the queries see too far back
def sliding_window_mask(L_q, L_k, window):
    ones = torch.ones(L_q, L_k, dtype=torch.bool)
    return ones.tril(L_k - L_q) & ones.triu(1 - window)


# %% wrong: keeps only the newest window keys of the whole sequence for all queries, instead of the newest ones of each query
def sliding_window_mask(L_q, L_k, window):
    mask = torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q)
    mask[:, : max(L_k - window, 0)] = False
    return mask


# %% right: the causal triangle without the same triangle moved back by the window
def sliding_window_mask(L_q, L_k, window):
    ones = torch.ones(L_q, L_k, dtype=torch.bool)
    return ones.tril(L_k - L_q) ^ ones.tril(L_k - L_q - window)


# %% right: adds the query's keys one by one, from its own position back, with a loop over the distance and an index per row
def sliding_window_mask(L_q, L_k, window):
    mask = torch.zeros(L_q, L_k, dtype=torch.bool)
    rows, own = torch.arange(L_q), torch.arange(L_k - L_q, L_k)
    for back in range(min(window, L_k)):
        there = own >= back
        mask[rows[there], own[there] - back] = True
    return mask
