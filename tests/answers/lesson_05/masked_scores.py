# %% setup
import torch

# %% wrong: the lowest number of the type is added like a bias
def masked_scores(scores, attend, ignore, keep, add):
    if attend is not None:
        scores = scores.masked_fill(~attend, float("-inf"))
    if ignore is not None:
        scores = scores.masked_fill(ignore, float("-inf"))
    if keep is not None:
        scores = scores.masked_fill(keep[:, None, None] == 0, float("-inf"))
    if add is not None:
        scores = scores + add.to(scores.dtype)
    return scores

# %% wrong: the additive mask is read as a mask only, its biases are dropped
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ignore
    if keep is not None:
        hidden = hidden | ~keep.bool()[:, None, None, :]
    if add is not None:
        hidden = hidden | (add < -1000)
    return scores.masked_fill(hidden, float("-inf"))

# %% wrong: the true of ignore is taken for the true of attend
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ~ignore
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]
    if add is not None:
        hidden = hidden | (add <= torch.finfo(add.dtype).min)
        scores = scores + add.to(scores.dtype)
    return scores.masked_fill(hidden, float("-inf"))

# %% two mistakes: a key is hidden only where all masks hide it; and the biases are dropped
def masked_scores(scores, attend, ignore, keep, add):
    allowed = torch.zeros_like(scores, dtype=torch.bool)
    some = False
    for mask in (attend, None if ignore is None else ~ignore, None if keep is None else keep.bool()[:, None, None], None if add is None else add > -1000):
        if mask is not None:
            allowed, some = allowed | mask, True
    return scores.masked_fill(~allowed, float("-inf")) if some else scores.clone()

# %% right: one mask after the other, each into -inf, biases first
def masked_scores(scores, attend, ignore, keep, add):
    low = float("-inf")
    if add is not None:
        lowest = add == torch.finfo(add.dtype).min
        scores = scores + add.masked_fill(lowest, low).to(scores.dtype)
    if attend is not None:
        scores = torch.where(attend, scores, low)
    if ignore is not None:
        scores = torch.where(ignore, low, scores)
    if keep is not None:
        scores = torch.where(keep.view(len(keep), 1, 1, -1) == 1, scores, low)
    return scores.clone()

# %% right: an additive mask in double precision, turned back into the type of the scores at the end
def masked_scores(scores, attend, ignore, keep, add):
    total = torch.zeros(scores.shape, dtype=torch.float64)
    zero, low = torch.tensor(0.0, dtype=torch.float64), torch.tensor(float("-inf"), dtype=torch.float64)
    if attend is not None:
        total = total + torch.where(attend, zero, low)
    if ignore is not None:
        total = total + torch.where(ignore, low, zero)
    if keep is not None:
        total = total + torch.where(keep.bool(), zero, low)[:, None, None, :]
    if add is not None:
        total = total + torch.where(add.double() <= float(torch.finfo(add.dtype).min), low, add.double())
    return (scores.double() + total).to(scores.dtype)
