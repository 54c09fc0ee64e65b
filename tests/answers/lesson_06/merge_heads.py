# %% setup
import torch

from course_utils.attention import masked_softmax

# %% wrong: calls view on the transposed tensor, which is not contiguous, and stops with an error
def merge_heads(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).view(B, L, H * d_head)

# %% wrong: puts the heads one after another along the tokens, shape (B, H * L, d_head)
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=1)

# %% wrong: handles exactly two heads, further ones are dropped and a single one is an error
def merge_heads(x):
    return torch.cat([x[:, 0], x[:, 1]], dim=-1)

# %% wrong: squeezes the result, so a batch of 1 or a sequence of one token loses its axis
def merge_heads(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).reshape(B, L, H * d_head).squeeze()

# %% two mistakes: puts the heads side by side in reverse order, the last first; and converts to float32
def merge_heads(x):
    H = x.shape[1]
    return torch.cat([x[:, h].float() for h in range(H - 1, -1, -1)], dim=-1)

# %% right: an empty tensor of the same dtype that is filled head by head
def merge_heads(x):
    B, H, L, d_head = x.shape
    merged = x.new_empty(B, L, H * d_head)
    for h in range(H):
        merged[..., h * d_head : (h + 1) * d_head] = x[:, h]
    return merged

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.attention import masked_softmax

# %% wrong: interleaves the heads: feature 0 of all heads comes first, then feature 1
def merge_heads(x):
    return x.permute(0, 2, 3, 1).flatten(2)

# %% right: unbinds the heads and concatenates them
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)

# %% setup
import torch

# %% wrong: swaps the axes with transpose_ in place, so the result is right but the caller's x is left with swapped axes
def merge_heads(x):
    return x.transpose_(1, 2).flatten(2)

# %% right: the heads one by one, side by side
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=2)
