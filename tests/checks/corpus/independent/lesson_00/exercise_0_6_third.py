# %% setup
import torch


# %% wrong: splits into pieces of num_heads numbers instead of num_heads pieces, which is the same only where num_heads equals d_head
def split_heads(x, num_heads):
    return torch.stack(x.split(num_heads, dim=-1), dim=1)


# %% wrong: swaps the axes of positions and numbers first and then reshapes straight to (B, H, L, d_head), which scrambles positions and numbers within a head
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.transpose(1, 2).reshape(B, num_heads, L, d_model // num_heads)


# %% wrong: deals the numbers out like cards, so head h gets the numbers h, h + H, h + 2H instead of neighbors
def split_heads(x, num_heads):
    return torch.stack([x[:, :, h::num_heads] for h in range(num_heads)], dim=1)


# %% wrong: puts the heads one behind the other along the batch axis and views that as (B, H, ...), which mixes sentences and heads when B is above 1
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    heads = torch.cat(x.chunk(num_heads, dim=-1), dim=0)
    return heads.view(B, num_heads, L, d_model // num_heads)


# %% right: slides a window of d_head numbers in steps of d_head along the last axis
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    return x.unfold(2, d_head, d_head).movedim(2, 1)


# %% right: picks the numbers by index, head h and place e being number h * d_head + e
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    which = torch.arange(x.shape[-1]).view(num_heads, 1, d_head)
    where = torch.arange(x.shape[1])[:, None]
    return x[:, where, which]
