# %% setup
import torch

# %% wrong: reshapes straight to (B, H, L, d_head) without a transpose, so numbers of different tokens are mixed
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, num_heads, L, d_model // num_heads)

# %% wrong: gives every head every H-th number (the heads are interleaved) instead of a block of neighboring numbers
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, d_model // num_heads, num_heads).permute(0, 3, 1, 2)

# %% wrong: cuts into pieces of size num_heads instead of num_heads pieces, right only when d_head equals num_heads
def split_heads(x, num_heads):
    return torch.stack(x.split(num_heads, dim=-1), dim=1)

# %% wrong: stacks the heads in a new first axis, so the result is (H, B, L, d_head)
def split_heads(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=-1))

# %% two mistakes: the heads are interleaved (every H-th number) and not blocks; and the last two axes are swapped, (B, H, d_head, L)
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    parts = x.reshape(B, L, d_model // num_heads, num_heads)
    return parts.permute(0, 3, 2, 1)

# %% wrong: last two axes swapped, (B, H, d_head, L)
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, d_model // num_heads).permute(0, 2, 3, 1)

# %% right: slides a window of d_head numbers in steps of d_head along the last axis
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    return x.unfold(2, d_head, d_head).movedim(2, 1)

# %% wrong: picks the numbers by index, head h and place e being number h * d_head + e: right numbers, but a copy
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    which = torch.arange(x.shape[-1]).view(num_heads, 1, d_head)
    where = torch.arange(x.shape[1])[:, None]
    return x[:, where, which]

# %% wrong: chunks of the last axis, stacked as a new axis 1: right numbers, but a copy
def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)
