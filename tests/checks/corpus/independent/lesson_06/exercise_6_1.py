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

# %% wrong: forgets to exchange tokens and heads, the result is (B, L, num_heads, d_head)
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.view(B, L, num_heads, d_model // num_heads)

# %% wrong: splits into pieces of num_heads features instead of into num_heads pieces, right only where d_head equals num_heads
def split_heads(x, num_heads):
    pieces = torch.split(x, num_heads, dim=-1)
    return torch.stack(pieces, dim=1)

# %% wrong: copies into a float32 tensor, so the dtype changes and double precision is lost
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    out = torch.zeros(B, num_heads, L, d_head)
    for h in range(num_heads):
        out[:, h] = x[:, :, h * d_head : (h + 1) * d_head]
    return out

# %% wrong: the last two axes are exchanged, (B, num_heads, d_head, L)
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, d_model // num_heads).permute(0, 2, 3, 1)

# %% two mistakes: stacks the heads on axis 0 in front of the batch; and takes them in reverse order, the last head first
def split_heads(x, num_heads):
    heads = list(torch.chunk(x, num_heads, dim=-1))
    heads.reverse()
    return torch.stack(heads)

# %% right: chunks stacked on the new axis 1
def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=2), dim=1)

# %% right: unfold takes the blocks out of the last axis as a strided view
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    return x.unfold(2, d_head, d_head).movedim(2, 1)

# %% right: a table of feature numbers used as an index
def split_heads(x, num_heads):
    features = torch.arange(x.size(-1), device=x.device).reshape(num_heads, -1)  # (H, d_head)
    return x[:, :, features].permute(0, 2, 1, 3).contiguous()
