# %% setup
import torch

# %% wrong: swaps heads and positions, nothing else
def mend(heads):
    return heads.transpose(1, 2)

# %% wrong: gives a copy back as it was
def mend(heads):
    return heads.clone()

# %% wrong: merges rightly and cuts wrongly again
def mend(heads):
    B, H, L, d = heads.shape
    return heads.transpose(1, 2).reshape(B, H, L, d)

# %% wrong: gets x back and stops
def mend(heads):
    B, H, L, d = heads.shape
    return heads.reshape(B, L, H * d)

# %% right: by chunks of the restored x
def mend(heads):
    B, H, L, d = heads.shape
    x = heads.flatten(1).reshape(B, L, H * d)
    return torch.stack(x.chunk(H, dim=-1), dim=1)

# %% right: one loop over the heads, with slices
def mend(heads):
    B, H, L, d = heads.shape
    x = heads.reshape(B, L, -1)
    return torch.stack([x[..., h * d : (h + 1) * d] for h in range(H)], dim=1)
