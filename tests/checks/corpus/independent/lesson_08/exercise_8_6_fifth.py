# %% setup
import torch

# %% wrong: the slopes get one more axis in place of two
def alibi_bias(slopes, L_q, L_k):
    d = (torch.arange(L_k - L_q, L_k)[:, None] - torch.arange(L_k)).abs()
    return -slopes[:, None] * d
