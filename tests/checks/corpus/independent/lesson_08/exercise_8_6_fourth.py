# %% setup
import torch


# %% right: a comprehension over heads
def alibi_bias(slopes, L_q, L_k):
    rows = torch.arange(L_q)[:, None] + (L_k - L_q)
    distance = torch.abs(rows - torch.arange(L_k)[None]).float()
    return torch.stack([-s * distance for s in slopes])


# %% right: number by number
def alibi_bias(slopes, L_q, L_k):
    bias = torch.zeros(len(slopes), L_q, L_k)
    for h, slope in enumerate(slopes.tolist()):
        for a in range(L_q):
            for n in range(L_k):
                bias[h, a, n] = -slope * abs(a + L_k - L_q - n)
    return bias


# %% wrong: queries counted from 0, not the last ones
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_q)[:, None] - torch.arange(L_k)).abs()
    return -slopes.view(-1, 1, 1) * distance


# %% wrong: distance with its sign, so later keys are favored
def alibi_bias(slopes, L_q, L_k):
    distance = torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)
    return -slopes.view(-1, 1, 1) * distance


# %% wrong: later keys get no bias
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)).clamp(min=0)
    return -slopes.view(-1, 1, 1) * distance


# %% wrong: distance times a positive slope
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)).abs()
    return slopes.view(-1, 1, 1) * distance


# %% wrong: the number of queries is taken off once too much
def alibi_bias(slopes, L_q, L_k):
    distance = (torch.arange(L_k - L_q - 1, L_k - 1)[:, None] - torch.arange(L_k)).abs()
    return -slopes.view(-1, 1, 1) * distance
