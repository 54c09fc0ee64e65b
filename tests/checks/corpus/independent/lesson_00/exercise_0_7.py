# %% setup
import torch

# %% wrong: divides by the length of the padded batch
def sentence_means(x, ids, pad_id):
    real = (ids != pad_id).unsqueeze(-1)
    return (x * real).sum(dim=1) / ids.shape[1]

# %% wrong: counts of shape (B,) divided into (B, d), which runs only where B equals d or 1
def sentence_means(x, ids, pad_id):
    real = ids != pad_id
    return (x * real[..., None]).sum(dim=1) / real.sum(dim=1)

# %% wrong: the right counts, but the vectors of padding are in the sum
def sentence_means(x, ids, pad_id):
    counts = (ids != pad_id).sum(dim=1, keepdim=True)
    return x.sum(dim=1) / counts

# %% wrong: takes a token for padding if its vector is all zeros
def sentence_means(x, ids, pad_id):
    x = x * (ids != pad_id)[..., None]
    real = (x != 0).any(dim=-1, keepdim=True)
    return x.sum(dim=1) / real.sum(dim=1)

# %% wrong: takes id 0 for padding, whatever pad_id is
def sentence_means(x, ids, pad_id):
    real = (ids > 0)[..., None]
    return (x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)

# %% wrong: divides by the number of all real tokens of the batch
def sentence_means(x, ids, pad_id):
    real = (ids != pad_id)[..., None]
    return (x * real).sum(dim=1) / real.sum()

# %% wrong: fills the vectors of padding with 0 in place
def sentence_means(x, ids, pad_id):
    real = ids != pad_id
    x[~real] = 0
    return x.sum(dim=1) / real.sum(dim=1, keepdim=True)

# %% two mistakes: takes id 0 for padding; and divides by the padded length
def sentence_means(x, ids, pad_id):
    return (x * (ids != 0)[..., None]).mean(dim=1)

# %% two mistakes: leaves padding in the sum; and divides by the largest count
def sentence_means(x, ids, pad_id):
    return x.sum(dim=1) / (ids != pad_id).sum(dim=1).max()

# %% right: sentence by sentence, cut to its real tokens
def sentence_means(x, ids, pad_id):
    return torch.stack([vectors[row != pad_id].mean(dim=0) for vectors, row in zip(x, ids)])

# %% right: weights that sum to 1, and einsum
def sentence_means(x, ids, pad_id):
    weights = (ids != pad_id).float()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return torch.einsum("bl,bld->bd", weights, x)

# %% right: NaN in the place of padding, and nanmean
def sentence_means(x, ids, pad_id):
    return x.masked_fill((ids == pad_id)[..., None], float("nan")).nanmean(dim=1)
