# %% setup
import torch

# %% wrong: views directly as (B, H, L, d_head), which mixes tokens and heads
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, num_heads, L, d_model // num_heads)

# %% wrong: the heads take every H-th number (interleaved) instead of consecutive blocks
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, d_model // num_heads, num_heads).permute(0, 3, 1, 2)

# %% wrong: x.split(num_heads) makes parts of size num_heads, not num_heads parts, so it is right only if H == d_head
def split_heads(x, num_heads):
    parts = x.split(num_heads, dim=-1)
    return torch.stack(parts, dim=1)

# %% wrong: stacks the heads in front as (H, B, L, d_head) and reshapes instead of transposing, right only for a batch of 1 (or one head)
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    heads = torch.stack(x.chunk(num_heads, dim=-1))
    return heads.reshape(B, num_heads, L, d_model // num_heads)

# %% right: windows of width d_head by unfold along the last axis
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    return x.unfold(-1, d_head, d_head).permute(0, 2, 1, 3)

# %% right: slices in a loop, joined by cat along a new axis
def split_heads(x, num_heads):
    d_head = x.size(2) // num_heads
    heads = []
    for h in range(num_heads):
        heads.append(x[:, :, h * d_head:(h + 1) * d_head].unsqueeze(1))
    return torch.cat(heads, dim=1)
