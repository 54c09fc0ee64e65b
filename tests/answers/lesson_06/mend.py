# %% setup
import torch

# %% wrong: swaps the axes first and reshapes to the old shape
def mend(heads):
    B, H, L, d_head = heads.shape
    return heads.transpose(1, 2).reshape(B, H, L, d_head)

# %% wrong: joins the heads as if they had been split rightly, and splits again, which gives back what came in
def mend(heads):
    B, H, L, d_head = heads.shape
    x = heads.transpose(1, 2).reshape(B, L, H * d_head)
    return x.reshape(B, L, H, d_head).transpose(1, 2)

# %% wrong: joins the heads with a transpose and splits with the wrong reshape
def mend(heads):
    B, H, L, d_head = heads.shape
    x = heads.permute(0, 2, 1, 3).flatten(2)
    return x.reshape(B, H, L, d_head)

# %% wrong: undoes the reshape, but leaves the tokens before the heads: (B, L, H, d_head)
def mend(heads):
    B, H, L, d_head = heads.shape
    x = heads.reshape(B, L, H * d_head)
    return x.reshape(B, L, H, d_head)

# %% wrong: only swaps heads and tokens
def mend(heads):
    return heads.transpose(1, 2)

# %% wrong: gives head h every H-th feature, by cutting the last axis into (d_head, H)
def mend(heads):
    B, H, L, d_head = heads.shape
    x = heads.reshape(B, L, d_head, H)
    return x.permute(0, 3, 1, 2)

# %% wrong: undoes the reshape over the whole batch, with the tokens outermost, so sequences get mixed
def mend(heads):
    B, H, L, d_head = heads.shape
    x = heads.reshape(L, B, H, d_head)
    return x.permute(1, 2, 0, 3)

# %% wrong: swaps tokens and features of each head and reshapes back
def mend(heads):
    B, H, L, d_head = heads.shape
    return heads.transpose(2, 3).reshape(B, H, L, d_head)

# %% wrong: gets x back and stops there: (B, L, d_model)
def mend(heads):
    B, H, L, d_head = heads.shape
    return heads.reshape(B, L, H * d_head)

# %% wrong: mends the first sequence alone and repeats it for all
def mend(heads):
    B, H, L, d_head = heads.shape
    x = heads[0].reshape(L, H, d_head).transpose(0, 1)
    return x.expand(B, H, L, d_head)

# %% two mistakes: gives head h every H-th feature; and leaves the tokens before the heads
def mend(heads):
    B, H, L, d_head = heads.shape
    return heads.reshape(B, L, d_head, H).transpose(2, 3)

# %% right: gets x back flat and stacks the heads' slices of it
def mend(heads):
    B, H, L, d_head = heads.shape
    x = heads.flatten(1).unflatten(1, (L, H * d_head))
    return torch.stack(x.split(d_head, dim=-1), dim=1)

# %% right: number by number, by whole-number arithmetic
def mend(heads):
    B, H, L, d_head = heads.shape
    flat = heads.reshape(B, -1)
    out = torch.empty_like(heads)
    for h in range(H):
        for t in range(L):
            start = t * H * d_head + h * d_head
            out[:, h, t] = flat[:, start : start + d_head]
    return out

# %% right: one index for all numbers, and a gather
def mend(heads):
    B, H, L, d_head = heads.shape
    where = torch.arange(H * L * d_head).view(L, H, d_head).permute(1, 0, 2).flatten()
    return heads.flatten(1)[:, where].reshape(heads.shape)

# %% right: a view in place of a reshape
def mend(heads):
    B, H, L, d_head = heads.shape
    return heads.view(B, L, H, d_head).permute(0, 2, 1, 3)
