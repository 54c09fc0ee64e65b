# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.attention import masked_softmax

# %% wrong: stacks the heads in front and reshapes to (B, H, ...), which mixes items and heads unless the batch has one item
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    heads = torch.stack(x.chunk(num_heads, dim=-1))  # (H, B, L, d_head)
    return heads.reshape(B, num_heads, L, d_model // num_heads)

# %% wrong: deals the features out in turns, so head h holds every num_heads-th feature
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, d_model // num_heads, num_heads).permute(0, 3, 1, 2)

# %% wrong: takes num_heads as the size of a head, right only if the number of heads equals d_head
def split_heads(x, num_heads):
    return torch.stack(x.split(num_heads, dim=-1), dim=1)

# %% wrong: flattens batch and length with view, which raises an error when x is not contiguous, for instance a transposed tensor
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    flat = x.view(B * L, num_heads, d_model // num_heads)
    return flat.reshape(B, L, num_heads, -1).transpose(1, 2)

# %% two mistakes: views x as (B, H, L, d_head) without splitting first and swapping axes then, so tokens are mixed; and converts to float32
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.float().reshape(B, num_heads, L, d_model // num_heads)

# %% right: windows over the last axis by unfold
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    return x.unfold(2, d_head, d_head).permute(0, 2, 1, 3)

# %% right: an index of features per head, picked from the last axis
def split_heads(x, num_heads):
    features = torch.arange(x.shape[-1]).reshape(num_heads, -1)  # (H, d_head)
    return torch.stack([x.index_select(-1, block) for block in features], dim=1)
