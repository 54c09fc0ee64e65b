# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.masks import causal_mask


# %% wrong: repeats the whole row of heads (1, 2, 1, 2) instead of each head in a row (1, 1, 2, 2)
def repeat_kv(x, num_repeats):
    return torch.cat([x] * num_repeats, dim=1)


# %% wrong: query head h gets key/value head h // H_kv instead of h // num_repeats, right only if both numbers are equal, else wrong heads or an index error
def repeat_kv(x, num_repeats):
    H_kv = x.shape[1]
    index = torch.arange(H_kv * num_repeats) // H_kv
    return x[:, index]


# %% wrong: uses view on the input, which stops with an error if x is not contiguous (for example transposed after the head split)
def repeat_kv(x, num_repeats):
    B, H_kv, L, d_head = x.shape
    x = x.view(B, H_kv, 1, L * d_head).repeat(1, 1, num_repeats, 1)
    return x.view(B, H_kv * num_repeats, L, d_head)


# %% wrong: fills a new float32 tensor, so the dtype of x is lost (float64 becomes float32)
def repeat_kv(x, num_repeats):
    B, H_kv, L, d_head = x.shape
    out = torch.zeros(B, H_kv * num_repeats, L, d_head)
    for h in range(H_kv * num_repeats):
        out[:, h] = x[:, h // num_repeats]
    return out


# %% right: index_select with a list of head numbers built in Python
def repeat_kv(x, num_repeats):
    index = torch.tensor([h for h in range(x.shape[1]) for _ in range(num_repeats)], device=x.device)
    return x.index_select(1, index)


# %% right: einsum with a vector of ones, then flatten
def repeat_kv(x, num_repeats):
    ones = torch.ones(num_repeats, dtype=x.dtype, device=x.device)
    return torch.einsum("bhld,r->bhrld", x, ones).flatten(1, 2)
