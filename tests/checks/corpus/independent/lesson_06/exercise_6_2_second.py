# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.attention import masked_softmax

# %% wrong: swaps the axes of the argument itself with transpose_, so x has another shape afterwards
def merge_heads(x):
    x.transpose_(1, 2)
    B, L, H, d_head = x.shape
    return x.reshape(B, L, H * d_head)

# %% wrong: uses view on the transposed tensor, which raises an error for more than one head and more than one token
def merge_heads(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).view(B, L, H * d_head)

# %% wrong: interleaves the heads: feature 0 of all heads comes first, then feature 1
def merge_heads(x):
    return x.permute(0, 2, 3, 1).flatten(2)

# %% wrong: puts only the first and the last head side by side, right only for two heads
def merge_heads(x):
    return torch.cat([x[:, 0], x[:, -1]], dim=-1)

# %% right: unbinds the heads and concatenates them
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)

# %% right: writes each head into its block of a new tensor
def merge_heads(x):
    B, H, L, d_head = x.shape
    result = x.new_zeros(B, L, H * d_head)
    for h in range(H):
        result[:, :, h * d_head : (h + 1) * d_head] = x[:, h]
    return result
