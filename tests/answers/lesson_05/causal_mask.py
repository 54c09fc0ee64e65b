# %% setup
import torch

# %% wrong: no offset: query i sees keys 0 to i, as if the queries were the first positions
def causal_mask(L_q, L_k):
    return torch.ones(L_q, L_k, dtype=torch.bool).tril()

# %% wrong: the mask is inverted, True marks the keys of the future
def causal_mask(L_q, L_k):
    return torch.triu(torch.ones(L_q, L_k, dtype=torch.bool), diagonal=L_k - L_q + 1)

# %% wrong: the offset is a fixed 1, as in the example, right only if there is exactly one more key than queries
def causal_mask(L_q, L_k):
    return torch.tril(torch.ones(L_q, L_k, dtype=torch.bool), diagonal=1)

# %% two mistakes: the offset has the wrong sign, L_q - L_k; and the result is of numbers 1.0 and 0.0 instead of booleans
def causal_mask(L_q, L_k):
    return torch.tril(torch.ones(L_q, L_k), diagonal=L_q - L_k)

# %% wrong: shifts the diagonal by 1 whenever there are more keys than queries, right only if exactly one key comes from the cache
def causal_mask(L_q, L_k):
    shift = 1 if L_k > L_q else 0
    return torch.ones(L_q, L_k, dtype=torch.bool).tril(diagonal=shift)

# %% wrong: treats one query as the case with a cache and all else as a full sequence, so several queries after a cache get a triangle that begins at key 0
def causal_mask(L_q, L_k):
    if L_q == 1:
        return torch.ones(1, L_k, dtype=torch.bool)
    return torch.tril(torch.ones(L_q, L_k, dtype=torch.bool))

# %% wrong: the entries are right, but they are whole numbers 1 and 0 instead of booleans
def causal_mask(L_q, L_k):
    query_positions = torch.arange(L_k - L_q, L_k).unsqueeze(1)
    return torch.where(torch.arange(L_k) <= query_positions, 1, 0)

# %% wrong: returns the mask with axes for the batch and the heads, (1, 1, L_q, L_k), where two axes are asked for
def causal_mask(L_q, L_k):
    return torch.ones(L_q, L_k, dtype=torch.bool).tril(L_k - L_q)[None, None]

# %% wrong: zeros and ones as float32, not booleans
def causal_mask(L_q, L_k):
    return torch.ones(L_q, L_k).tril(L_k - L_q)

# %% right: turns an upper triangle by 180 degrees, so that the corner of the last query and the last key is what counts
def causal_mask(L_q, L_k):
    return torch.ones(L_q, L_k, dtype=torch.bool).triu().flip(0, 1)

# %% right: fills the visible beginning of each row in a loop, from the last query upwards
def causal_mask(L_q, L_k):
    mask = torch.zeros(L_q, L_k, dtype=torch.bool)
    for back in range(L_q):
        mask[L_q - 1 - back, : L_k - back] = True
    return mask

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: shifts the diagonal by the remainder of L_k by L_q, which is the difference only if L_k is below 2 * L_q
def causal_mask(L_q, L_k):
    return torch.ones(L_q, L_k, dtype=torch.bool).tril(diagonal=L_k % L_q)

# %% right: the future as an upper triangle, negated
def causal_mask(L_q, L_k):
    future = torch.triu(torch.ones(L_q, L_k), diagonal=L_k - L_q + 1)
    return torch.logical_not(future)
