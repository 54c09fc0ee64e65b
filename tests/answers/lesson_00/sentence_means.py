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

# %% two mistakes: takes id 0 for padding; and divides by the padded length
def sentence_means(x, ids, pad_id):
    return (x * (ids != 0)[..., None]).mean(dim=1)

# %% wrong: divides by one count for the whole batch
def sentence_means(x, ids, pad_id):
    real = (ids != pad_id)[:, :, None]
    return (x * real).sum(dim=1) / real.sum() * len(x)

# %% two mistakes: averages over the features; and divides by L
def sentence_means(x, ids, pad_id):
    real = (ids != pad_id)[:, :, None]
    return (x * real).mean(dim=-1)

# %% wrong: no mask at all, padding counts
def sentence_means(x, ids, pad_id):
    return x.mean(dim=1)

# %% right: sentence by sentence, cut to its real tokens
def sentence_means(x, ids, pad_id):
    return torch.stack([vectors[row != pad_id].mean(dim=0) for vectors, row in zip(x, ids)])

# %% right: NaN in the place of padding, and nanmean
def sentence_means(x, ids, pad_id):
    return x.masked_fill((ids == pad_id)[..., None], float("nan")).nanmean(dim=1)

# %% right: picks each sentence's real rows and averages them
def sentence_means(x, ids, pad_id):
    return torch.stack([vectors[row != pad_id].mean(dim=0) for vectors, row in zip(x, ids)])
