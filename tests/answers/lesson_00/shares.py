# %% setup
import torch

# %% wrong: masks with real as it comes, so its sentences line up with the rows: an error unless B is n or 1
def shares(x, real):
    masked = torch.where(real, x, torch.zeros_like(x))
    return masked / masked.sum(-1, keepdim=True)

# %% wrong: zeroes the padding only after the division, so the real shares of a row add up to less than 1
def shares(x, real):
    result = x / x.sum(-1, keepdim=True)
    return result * real.unsqueeze(1)

# %% wrong: sets the padding to 0 in x itself, so the argument is changed
def shares(x, real):
    x.masked_fill_(~real.unsqueeze(1), 0.0)
    return x / x.sum(-1, keepdim=True)

# %% wrong: drops the padded columns of each sentence, so every row is shorter where there is padding
def shares(x, real):
    longest = int(real.sum(1).max())
    kept = x[:, :, :longest] * real[:, None, :longest]
    return kept / kept.sum(-1, keepdim=True)

# %% wrong: a loop over sentences and rows, which takes too many operations where there are many
def shares(x, real):
    out = torch.zeros_like(x)
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            row = x[b, i] * real[b]
            out[b, i] = row / row.sum()
    return out

# %% wrong: divides by the number of real tokens, as for a mean, not by the sum of the row
def shares(x, real):
    return x * real[:, None] / real.sum(-1)[:, None, None]

# %% two mistakes: forgets the padding; and sums over the rows, so the columns sum to 1
def shares(x, real):
    return x / x.sum(dim=1, keepdim=True)

# %% wrong: a small number in the divisor, so the shares of very small numbers are too small
def shares(x, real):
    kept = x * real[:, None]
    return kept / (kept.sum(-1, keepdim=True) + 1e-6)

# %% right: the sums of the real tokens by einsum, then a where
def shares(x, real):
    totals = torch.einsum("bnm,bm->bn", x, real.to(x.dtype))
    return torch.where(real[:, None, :], x / totals[:, :, None], torch.zeros((), dtype=x.dtype))

# %% right: a matrix product with the mask gives the sums as a column
def shares(x, real):
    mask = real.to(x.dtype).unsqueeze(-1)
    return (x / (x @ mask)).masked_fill(~real.unsqueeze(-2), 0)
