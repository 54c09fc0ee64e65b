# %% setup
import torch


# %% wrong: divides by one count for the whole batch
def sentence_means(x, ids, pad_id):
    real = (ids != pad_id)[:, :, None]
    return (x * real).sum(dim=1) / real.sum() * len(x)


# %% wrong: the counts have shape (B), so they meet the features
def sentence_means(x, ids, pad_id):
    real = ids != pad_id
    return (x * real[:, :, None]).sum(dim=1) / real.sum(dim=1)


# %% wrong: compares with 0
def sentence_means(x, ids, pad_id):
    real = (ids != 0)[:, :, None]
    return (x * real).sum(dim=1) / real.sum(dim=1)


# %% wrong: forgets to leave out the vectors of padding
def sentence_means(x, ids, pad_id):
    counts = (ids != pad_id).sum(dim=1, keepdim=True)
    return x.sum(dim=1) / counts


# %% wrong: counts the ids that differ, so a word that comes twice counts once
def sentence_means(x, ids, pad_id):
    rows = []
    for vectors, row in zip(x, ids):
        real = row != pad_id
        rows.append(vectors[real].sum(dim=0) / len(set(row[real].tolist())))
    return torch.stack(rows)


# %% wrong: cuts every sentence to the shortest
def sentence_means(x, ids, pad_id):
    shortest = int((ids != pad_id).sum(dim=1).min())
    return x[:, :shortest].mean(dim=1)


# %% two mistakes: the mask the wrong way around; and divides by L
def sentence_means(x, ids, pad_id):
    return (x * (ids == pad_id)[:, :, None]).mean(dim=1)


# %% two mistakes: averages over the features; and divides by L
def sentence_means(x, ids, pad_id):
    real = (ids != pad_id)[:, :, None]
    return (x * real).mean(dim=-1)


# %% right: each sentence cut to its real tokens
def sentence_means(x, ids, pad_id):
    return torch.stack([vectors[row != pad_id].mean(dim=0) for vectors, row in zip(x, ids)])


# %% right: weights that sum to 1, by einsum
def sentence_means(x, ids, pad_id):
    real = ids.ne(pad_id).to(x.dtype)
    weights = real / real.sum(dim=1, keepdim=True)
    return torch.einsum("bl,bld->bd", weights, x)


# %% right: NaN for padding, and the mean that leaves NaN out
def sentence_means(x, ids, pad_id):
    return x.masked_fill((ids == pad_id).unsqueeze(-1), float("nan")).nanmean(dim=1)
