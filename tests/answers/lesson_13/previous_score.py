# %% setup
import math
import torch
import torch.nn.functional as F

# %% wrong: takes the first letter out of the sum but not out of the number of letters
def previous_score(weights, lengths):
    query = torch.arange(weights.shape[-1])
    before = (query - 1).clamp(min=0)
    on_target = weights[:, :, query, before]
    real = query < lengths[:, None]
    has_one = real & (query > 0)
    on_target = on_target * has_one[:, None]
    return on_target.sum(dim=(0, 2)) / real.sum()


# %% wrong: corrects the number of letters, but the first letter's weight on itself stays in the sum
def previous_score(weights, lengths):
    query = torch.arange(weights.shape[-1])
    before = (query - 1).clamp(min=0)
    on_target = weights[:, :, query, before]
    real = query < lengths[:, None]
    on_target = on_target * real[:, None]
    return on_target.sum(dim=(0, 2)) / (lengths - 1).sum()


# %% wrong: the mean of the strings' means, so a letter of a short string counts more
def previous_score(weights, lengths):
    scores = []
    for w, n in zip(weights, lengths.tolist()):
        if n > 1:
            scores.append(w.diagonal(-1, dim1=-2, dim2=-1)[:, : n - 1].mean(dim=-1))
    return torch.stack(scores).mean(dim=0)


# %% wrong: the diagonal starts at query 1 but is compared with lengths as if at 0, so a row of padding counts
def previous_score(weights, lengths):
    on_target = weights.diagonal(-1, dim1=-2, dim2=-1)  # (B, H, L - 1)
    real = torch.arange(on_target.shape[-1]) < lengths[:, None]
    return (on_target * real[:, None]).sum(dim=(0, 2)) / real.sum()


# %% wrong: takes one letter off the number for the whole batch, not one for each string
def previous_score(weights, lengths):
    query = torch.arange(1, weights.shape[-1])
    on_target = weights[:, :, query, query - 1]
    real = query < lengths[:, None]
    return (on_target * real[:, None]).sum(dim=(0, 2)) / (lengths.sum() - 1)


# %% wrong: a string of one letter counts as one letter with weight 0
def previous_score(weights, lengths):
    query = torch.arange(1, weights.shape[-1])
    on_target = weights[:, :, query, query - 1]
    real = query < lengths[:, None]
    number = (lengths - 1).clamp(min=1).sum()
    return (on_target * real[:, None]).sum(dim=(0, 2)) / number


# %% wrong: leaves out the last letter of each string and keeps the first
def previous_score(weights, lengths):
    query = torch.arange(weights.shape[-1])
    before = (query - 1).clamp(min=0)
    on_target = weights[:, :, query, before]
    real = query < lengths[:, None] - 1
    on_target = on_target * real[:, None]
    return on_target.sum(dim=(0, 2)) / real.sum()


# %% two mistakes: divides by all real letters; and the first row of padding is in the sum
def previous_score(weights, lengths):
    query = torch.arange(1, weights.shape[-1])
    on_target = weights[:, :, query, query - 1]
    real = query <= lengths[:, None]
    return (on_target * real[:, None]).sum(dim=(0, 2)) / lengths.sum()


# %% right: a loop over strings and letters, the mean of a list
def previous_score(weights, lengths):
    found = []
    for b in range(len(weights)):
        for i in range(1, int(lengths[b])):
            found.append(weights[b, :, i, i - 1])
    return torch.stack(found).mean(dim=0)


# %% right: running sums along the diagonal, read off where each string ends
def previous_score(weights, lengths):
    stripe = torch.diagonal(weights, offset=-1, dim1=2, dim2=3)  # (B, H, L - 1)
    running = F.pad(stripe.cumsum(dim=-1), (1, 0))  # (B, H, L)
    at = (lengths.long() - 1)[:, None, None].expand(-1, weights.shape[1], 1)
    return running.gather(2, at).sum(dim=(0, 2)) / (lengths.sum() - len(lengths))


# %% right: picks the letters with a boolean index, wrap-around and all, after setting query 0 to False
def previous_score(weights, lengths):
    L = weights.shape[-1]
    real = torch.arange(L)[None] < lengths[:, None]
    real[:, 0] = False
    rolled = weights.permute(0, 2, 3, 1)[:, torch.arange(L), torch.arange(L) - 1]  # (B, L, H)
    return rolled[real].mean(dim=0)
