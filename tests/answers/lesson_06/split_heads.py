# %% setup
import torch

from course_utils.attention import masked_softmax

# %% wrong: views the input directly as (B, num_heads, L, d_head), which mixes tokens and features
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, num_heads, L, d_model // num_heads)

# %% wrong: deals the features out in turn, head h gets the features h, h + num_heads, ... instead of a block
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, d_model // num_heads, num_heads).permute(0, 3, 1, 2)

# %% two mistakes: stacks the heads on axis 0 in front of the batch; and takes them in reverse order, the last head first
def split_heads(x, num_heads):
    heads = list(torch.chunk(x, num_heads, dim=-1))
    heads.reverse()
    return torch.stack(heads)

# %% right: chunks stacked on the new axis 1
def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=2), dim=1)

# %% right: a table of feature numbers used as an index
def split_heads(x, num_heads):
    features = torch.arange(x.size(-1), device=x.device).reshape(num_heads, -1)  # (H, d_head)
    return x[:, :, features].permute(0, 2, 1, 3).contiguous()

# %% setup
import torch

# %% wrong: axes not swapped, (B, L, H, d_head)
def split_heads(x, num_heads):
    return x.reshape(*x.shape[:2], num_heads, -1)

# %% wrong: each head's table transposed, (B, H, d_head, L)
def split_heads(x, num_heads):
    return x.mT.reshape(x.shape[0], num_heads, -1, x.shape[1])

# %% wrong: sets the strides itself as if x lay in order in memory, so an x that comes from a transpose gives misplaced numbers
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    return x.as_strided((B, num_heads, L, d_head), (L * d_model, d_head, d_model, 1))

# %% two mistakes: gives head h every num_heads-th feature instead of neighbouring ones; and leaves the heads behind the tokens
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, d_model // num_heads, num_heads).transpose(2, 3)

# %% right: cuts the features with unfold, windows as wide as their step, and moves the heads forward
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    return x.unfold(2, d_head, d_head).movedim(2, 1)

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

# %% wrong: flattens batch and length with view, which raises an error when x is not contiguous, for instance a transposed tensor
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    flat = x.view(B * L, num_heads, d_model // num_heads)
    return flat.reshape(B, L, num_heads, -1).transpose(1, 2)

# %% two mistakes: views x as (B, H, L, d_head) without splitting first and swapping axes then, so tokens are mixed; and converts to float32
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.float().reshape(B, num_heads, L, d_model // num_heads)
