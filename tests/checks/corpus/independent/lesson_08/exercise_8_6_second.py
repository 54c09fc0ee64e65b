# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: puts the queries at the first L_q positions instead of the last ones; right only if L_q equals L_k
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_q)[:, None] - torch.arange(L_k)[None, :]).abs()
    return -slopes[:, None, None] * distance


# %% wrong: leaves the sign of the distance, so later keys get a positive bias
def alibi_bias(slopes, L_q, L_k):
    m = torch.arange(L_k - L_q, L_k)
    n = torch.arange(L_k)
    return -slopes.view(-1, 1, 1) * (m[:, None] - n[None, :]).float()


# %% wrong: turns the sign of the caller's slopes in place, so they are negative after the call
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q, L_k).unsqueeze(1) - torch.arange(L_k)).abs()
    slopes = slopes.neg_()
    return slopes[:, None, None] * distance


# %% wrong: later keys get the bias 0 (distance clamped at 0), it is not counted in both directions
def alibi_bias(slopes, L_q, L_k):
    q = torch.arange(L_k)[-L_q:]
    k = torch.arange(L_k)
    distance = (q[:, None] - k[None]).clamp(min=0).to(slopes.dtype)
    return torch.einsum("h,qk->hqk", -slopes, distance)


# %% right: cdist gives the distances, einsum the product
def alibi_bias(slopes, L_q, L_k):
    pos = torch.arange(L_k, dtype=torch.float32)[:, None]
    distance = torch.cdist(pos[L_k - L_q:], pos, p=1.0)
    return torch.einsum("h,qk->hqk", slopes, distance).neg()


# %% right: nested loops that fill a tensor entry by entry
def alibi_bias(slopes, L_q, L_k):
    bias = torch.zeros(len(slopes), L_q, L_k)
    for q in range(L_q):
        for k in range(L_k):
            bias[:, q, k] = -slopes * abs(L_k - L_q + q - k)
    return bias
