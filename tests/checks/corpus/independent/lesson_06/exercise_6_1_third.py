# %% setup
import torch


# %% wrong: splits into pieces of size num_heads instead of num_heads pieces, right only if num_heads and d_head are equal
def split_heads(x, num_heads):
    return torch.stack(x.split(num_heads, dim=-1), dim=1)


# %% wrong: sets the strides itself as if x lay in order in memory, so an x that comes from a transpose gives misplaced numbers
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    return x.as_strided((B, num_heads, L, d_head), (L * d_model, d_head, d_model, 1))


# %% wrong: fills a tensor of zeros of the default type head by head, so float64 or whole numbers come back as float32
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    d_head = d_model // num_heads
    heads = torch.zeros(B, num_heads, L, d_head)
    for h in range(num_heads):
        heads[:, h] = x[:, :, h * d_head : (h + 1) * d_head]
    return heads


# %% wrong: puts the heads one after the other along the batch axis and views that as (B, num_heads, ...), so items and heads are mixed up unless there is one of either
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return torch.cat(x.chunk(num_heads, dim=-1), dim=0).view(B, num_heads, L, d_model // num_heads)


# %% two mistakes: gives head h every num_heads-th feature instead of neighbouring ones; and leaves the heads behind the tokens
def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, d_model // num_heads, num_heads).transpose(2, 3)


# %% right: cuts the features with unfold, windows as wide as their step, and moves the heads forward
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    return x.unfold(2, d_head, d_head).movedim(2, 1)


# %% right: looks up every number by an index table of features, head by head
def split_heads(x, num_heads):
    features = torch.arange(x.shape[2]).reshape(num_heads, -1)
    return torch.stack([x.index_select(2, own) for own in features], dim=1)
