# %% setup
import torch

# %% wrong: puts the queries at the first L_q positions instead of the last
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_q)[:, None] - torch.arange(L_k)).abs()
    return -slopes.view(-1, 1, 1) * distance

# %% wrong: changes the sign of the slopes in place, so the tensor of the caller is negative afterwards
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)[None]).abs().float()
    slopes.neg_()
    return slopes[:, None, None] * distance

# %% wrong: lays out queries and keys the other way round, so the result is (H, L_k, L_q)
def alibi_bias(slopes, L_q, L_k):
    k = torch.arange(L_k)[:, None]
    q = torch.arange(L_k - L_q, L_k)[None, :]
    return torch.einsum("h,kq->hkq", -slopes, (k - q).abs().to(slopes.dtype))

# %% two mistakes: forgets the minus sign; and places the queries one position too far (from L_k - L_q + 1 on)
def alibi_bias(slopes, L_q, L_k):
    q = torch.arange(L_q) + L_k - L_q + 1
    distance = (q[:, None] - torch.arange(L_k)[None, :]).abs()
    return slopes[:, None, None] * distance

# %% wrong: slopes without axes: they line up with the keys
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)[None, :]).abs()
    return -slopes * distance

# %% wrong: slopes with one axis too few: they line up with the queries
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)[None, :]).abs()
    return (-slopes[:, None] * distance).expand(len(slopes), L_q, L_k)

# %% wrong: distance times a positive slope
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)).abs()
    return slopes.view(-1, 1, 1) * distance

# %% wrong: the slopes get one more axis in place of two
def alibi_bias(slopes, L_q, L_k):
    d = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)).abs()
    return -slopes[:, None] * d

# %% right: the smaller of the two signed distances, k - q and q - k, times the slope, by torch.minimum
def alibi_bias(slopes, L_q, L_k):
    forward = torch.arange(L_k)[None, :] - torch.arange(L_k - L_q, L_k)[:, None]
    return (torch.minimum(forward, -forward) * slopes.reshape(-1, 1, 1)).to(torch.float32)

# %% right: toeplitz by unfolding a row of distances
def alibi_bias(slopes, L_q, L_k):
    row = torch.arange(-(L_k - 1), L_k).abs().to(slopes)  # distance of each diagonal
    table = row.unfold(0, L_k, 1).flip(0)  # (L_k, L_k): row q, column k
    return torch.einsum("h,qk->hqk", slopes.neg(), table[L_k - L_q:])

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% right: nested loops that fill a tensor entry by entry
def alibi_bias(slopes, L_q, L_k):
    bias = torch.zeros(len(slopes), L_q, L_k)
    for q in range(L_q):
        for k in range(L_k):
            bias[:, q, k] = -slopes * abs(L_k - L_q + q - k)
    return bias
