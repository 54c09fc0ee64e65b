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

# %% wrong: right numbers, but contiguous() copies them
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2).contiguous()

# %% wrong: cuts the last axis but never swaps, so it returns (B, L, H, d_head)
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.view(B, L, num_heads, d_model // num_heads)

# %% wrong: swaps first and then reshapes to the final shape, which scrambles and copies
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.transpose(1, 2).reshape(B, num_heads, L, d_model // num_heads)

# %% wrong: takes num_heads for the size of a head, so it returns (B, d_head, L, H)
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.view(B, L, d_model // num_heads, num_heads).transpose(1, 2)

# %% wrong: right numbers, filled into a new tensor by a loop over the heads
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    out = torch.empty(B, num_heads, L, d_head, dtype=x.dtype)
    for h in range(num_heads):
        out[:, h] = x[:, :, h * d_head : (h + 1) * d_head]
    return out

# %% wrong: returns a tuple of windows, one for each head, and not one tensor
def split_heads(x, num_heads):
    return x.split(x.shape[-1] // num_heads, dim=-1)

# %% wrong: swaps first and then views to the final shape, which PyTorch refuses for most sizes
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.transpose(1, 2).view(B, num_heads, L, d_model // num_heads)

# %% wrong: clones x first, so the result is a window on the clone
def split_heads(x, num_heads):
    y = x.clone()
    return y.unflatten(-1, (num_heads, -1)).transpose(1, 2)

# %% wrong: true division makes d_head a float, and view raises a TypeError
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.view(B, L, num_heads, d_model / num_heads).transpose(1, 2)

# %% wrong: joins batch and length, so it returns (H, B * L, d_head)
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    return x.view(-1, num_heads, d_head).transpose(0, 1)

# %% wrong: swaps batch and length instead of length and heads
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.view(B, L, num_heads, d_model // num_heads).transpose(0, 1)

# %% wrong: right numbers, but cat joins the windows into a new tensor
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    return torch.cat([x[:, None, :, h * d_head : (h + 1) * d_head] for h in range(num_heads)], dim=1)

# %% two mistakes: cuts the vector as (d_head, H), so numbers are interleaved; and makes a copy
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, d_model // num_heads, num_heads).permute(0, 3, 1, 2).contiguous()

# %% two mistakes: views directly as (B, H, L, d_head), which mixes tokens; and copies
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.clone().view(B, num_heads, L, -1)

# %% right: as_strided with the strides worked out by hand
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    return x.as_strided((B, num_heads, L, d_head), (L * d_model, d_head, d_model, 1))

# %% right: swaps length and features first, cuts the features, swaps the last two back
def split_heads(x, num_heads):
    return x.mT.unflatten(1, (num_heads, -1)).mT

# %% right: reshape, which needn't copy here, and movedim
def split_heads(x, num_heads):
    return torch.movedim(x.reshape(*x.shape[:2], num_heads, -1), 2, 1)
