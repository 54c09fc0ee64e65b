# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: compares add with the lowest number of the scores' type instead of its own
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ignore
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]
    if add is not None:
        hidden = hidden | (add <= torch.finfo(scores.dtype).min)
        scores = (scores + add).to(scores.dtype)
    return scores.masked_fill(hidden, float("-inf"))

# %% wrong: simply adds add, its lowest numbers stay finite and don't become minus infinity
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ignore
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]
    if add is not None:
        scores = (scores + add).to(scores.dtype)
    return scores.masked_fill(hidden, float("-inf"))

# %% wrong: the result has the wider type of scores and add
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ignore
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]
    if add is not None:
        hidden = hidden | (add == torch.finfo(add.dtype).min) | (add == float("-inf"))
        scores = scores + add
    return scores.masked_fill(hidden, float("-inf"))

# %% wrong: keep used as (B, L_k), so items of the batch line up with queries
def masked_scores(scores, attend, ignore, keep, add):
    out = scores.clone()
    if add is not None:
        low = add <= torch.finfo(add.dtype).min
        out = (out + add.masked_fill(low, float("-inf"))).to(scores.dtype)
    if attend is not None:
        out = out.masked_fill(~attend, float("-inf"))
    if ignore is not None:
        out = out.masked_fill(ignore, float("-inf"))
    if keep is not None:
        out = out.masked_fill(keep == 0, float("-inf"))
    return out

# %% wrong: ignore taken as if True meant may attend
def masked_scores(scores, attend, ignore, keep, add):
    out = scores.clone()
    if add is not None:
        low = add <= torch.finfo(add.dtype).min
        out = (out + add.masked_fill(low, float("-inf"))).to(scores.dtype)
    if attend is not None:
        out = out.masked_fill(~attend, float("-inf"))
    if ignore is not None:
        out = out.masked_fill(~ignore, float("-inf"))
    if keep is not None:
        out = out.masked_fill(~keep.bool()[:, None, None, :], float("-inf"))
    return out

# %% wrong: keep inverted while it still holds whole numbers, so ~1 is -2 and everything counts as hidden
def masked_scores(scores, attend, ignore, keep, add):
    out = scores.clone()
    if add is not None:
        low = add <= torch.finfo(add.dtype).min
        out = (out + add.masked_fill(low, float("-inf"))).to(scores.dtype)
    if attend is not None:
        out = out.masked_fill(~attend, float("-inf"))
    if ignore is not None:
        out = out.masked_fill(ignore, float("-inf"))
    if keep is not None:
        out = out.masked_fill((~keep).bool()[:, None, None, :], float("-inf"))
    return out

# %% wrong: hides a key only where all the given masks hide it
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.ones_like(scores, dtype=torch.bool)
    if attend is None and ignore is None and keep is None and add is None:
        return scores
    if attend is not None:
        hidden = hidden & ~attend
    if ignore is not None:
        hidden = hidden & ignore
    if keep is not None:
        hidden = hidden & (keep == 0)[:, None, None, :]
    if add is not None:
        low = add <= torch.finfo(add.dtype).min
        hidden = hidden & low
        scores = (scores + add.masked_fill(low, 0)).to(scores.dtype)
    return scores.masked_fill(hidden, float("-inf"))

# %% wrong: fills with the lowest number of the scores' type instead of minus infinity
def masked_scores(scores, attend, ignore, keep, add):
    lowest = torch.finfo(scores.dtype).min
    out = scores.clone()
    if add is not None:
        low = add <= torch.finfo(add.dtype).min
        out = (out + add).to(scores.dtype).masked_fill(low, lowest)
    if attend is not None:
        out = out.masked_fill(~attend, lowest)
    if ignore is not None:
        out = out.masked_fill(ignore, lowest)
    if keep is not None:
        out = out.masked_fill(keep[:, None, None, :] == 0, lowest)
    return out

# %% wrong: takes add for a mask only and never adds the bias
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ignore
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]
    if add is not None:
        hidden = hidden | (add <= torch.finfo(add.dtype).min)
    return scores.masked_fill(hidden, float("-inf"))

# %% wrong: every entry of add below -10,000 counts as hidden, strong biases too
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ignore
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]
    if add is not None:
        hidden = hidden | (add < -1e4)
        scores = (scores + add).to(scores.dtype)
    return scores.masked_fill(hidden, float("-inf"))

# %% wrong: every entry of add below -1e9 counts as hidden, so the lowest number of float16 doesn't
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ignore
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]
    if add is not None:
        hidden = hidden | (add < -1e9)
        scores = (scores + add).to(scores.dtype)
    return scores.masked_fill(hidden, float("-inf"))

# %% wrong: no test for None, so it fails as soon as one mask isn't there
def masked_scores(scores, attend, ignore, keep, add):
    low = add <= torch.finfo(add.dtype).min
    hidden = ~attend | ignore | (keep == 0)[:, None, None, :] | low
    return (scores + add).to(scores.dtype).masked_fill(hidden, float("-inf"))

# %% wrong: right result, but written into the given scores
def masked_scores(scores, attend, ignore, keep, add):
    if add is not None:
        low = add <= torch.finfo(add.dtype).min
        scores += add.masked_fill(low, float("-inf"))
    if attend is not None:
        scores.masked_fill_(~attend, float("-inf"))
    if ignore is not None:
        scores.masked_fill_(ignore, float("-inf"))
    if keep is not None:
        scores.masked_fill_(keep[:, None, None, :] == 0, float("-inf"))
    return scores

# %% wrong: looks for the lowest number after adding, where it has become another number in float16 or float64
def masked_scores(scores, attend, ignore, keep, add):
    out = scores
    if add is not None:
        total = scores + add
        out = total.masked_fill(total <= torch.finfo(add.dtype).min, float("-inf")).to(scores.dtype)
    if attend is not None:
        out = out.masked_fill(~attend, float("-inf"))
    if ignore is not None:
        out = out.masked_fill(ignore, float("-inf"))
    if keep is not None:
        out = out.masked_fill(keep[:, None, None, :] == 0, float("-inf"))
    return out

# %% wrong: multiplies minus infinity by the mask and adds, which is NaN wherever a key is allowed
def masked_scores(scores, attend, ignore, keep, add):
    out = scores.clone()
    if add is not None:
        low = add <= torch.finfo(add.dtype).min
        out = (out + add.masked_fill(low, float("-inf"))).to(scores.dtype)
    if attend is not None:
        out = out + (~attend) * float("-inf")
    if ignore is not None:
        out = out + ignore * float("-inf")
    if keep is not None:
        out = out + (1 - keep[:, None, None, :]) * float("-inf")
    return out

# %% wrong: only minus infinity in add counts as hidden, the lowest number is added like a bias in the wider type and comes back finite
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden |= ~attend
    if ignore is not None:
        hidden |= ignore
    if keep is not None:
        hidden |= ~keep[:, None, None, :].bool()
    if add is not None:
        hidden |= torch.isinf(add)
        scores = scores + add.to(scores.dtype)
    return torch.where(hidden, float("-inf"), scores)

# %% wrong: asks "if attend", which PyTorch refuses for a tensor of many entries
def masked_scores(scores, attend, ignore, keep, add):
    if add:
        scores = scores + add
    if attend:
        scores = scores.masked_fill(~attend, float("-inf"))
    if ignore:
        scores = scores.masked_fill(ignore, float("-inf"))
    if keep:
        scores = scores.masked_fill(keep[:, None, None, :] == 0, float("-inf"))
    return scores

# %% wrong: keep laid along the queries, so rows are hidden instead of columns
def masked_scores(scores, attend, ignore, keep, add):
    out = scores.clone()
    if add is not None:
        low = add <= torch.finfo(add.dtype).min
        out = (out + add.masked_fill(low, float("-inf"))).to(scores.dtype)
    if attend is not None:
        out = out.masked_fill(~attend, float("-inf"))
    if ignore is not None:
        out = out.masked_fill(ignore, float("-inf"))
    if keep is not None:
        out = out.masked_fill((keep == 0)[:, None, :, None], float("-inf"))
    return out

# %% wrong: attend taken as if True meant hidden
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    for mask in (attend, ignore):
        if mask is not None:
            hidden = hidden | mask
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]
    if add is not None:
        hidden = hidden | (add <= torch.finfo(add.dtype).min)
        scores = (scores + add).to(scores.dtype)
    return scores.masked_fill(hidden, float("-inf"))

# %% wrong: converts add to the scores' type before it looks for the lowest number of that type
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ignore
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]
    if add is not None:
        add = add.to(scores.dtype)
        hidden = hidden | (add <= torch.finfo(add.dtype).min)
        scores = scores + add
    return scores.masked_fill(hidden, float("-inf"))

# %% wrong: takes only one mask, the first that is given
def masked_scores(scores, attend, ignore, keep, add):
    if attend is not None:
        return scores.masked_fill(~attend, float("-inf"))
    elif ignore is not None:
        return scores.masked_fill(ignore, float("-inf"))
    elif keep is not None:
        return scores.masked_fill(keep[:, None, None, :] == 0, float("-inf"))
    elif add is not None:
        low = add <= torch.finfo(add.dtype).min
        return (scores + add.masked_fill(low, float("-inf"))).to(scores.dtype)
    return scores

# %% two mistakes: ignore taken as may attend; and the lowest number of add is only added
def masked_scores(scores, attend, ignore, keep, add):
    out = scores
    if add is not None:
        out = (out + add).to(scores.dtype)
    if attend is not None:
        out = out.masked_fill(~attend, float("-inf"))
    if ignore is not None:
        out = out.masked_fill(~ignore, float("-inf"))
    if keep is not None:
        out = out.masked_fill(keep[:, None, None, :] == 0, float("-inf"))
    return out

# %% two mistakes: fills with -1e9; and leaves the bias out
def masked_scores(scores, attend, ignore, keep, add):
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    if attend is not None:
        hidden = hidden | ~attend
    if ignore is not None:
        hidden = hidden | ignore
    if keep is not None:
        hidden = hidden | (keep == 0)[:, None, None, :]
    if add is not None:
        hidden = hidden | (add <= torch.finfo(add.dtype).min)
    return scores.masked_fill(hidden, -1e9 if scores.dtype != torch.float16 else -6e4)

# %% right: a list of what is allowed, and one product of booleans at the end
def masked_scores(scores, attend, ignore, keep, add):
    allowed = [torch.ones_like(scores).bool()]
    total = scores
    if attend is not None:
        allowed.append(attend)
    if ignore is not None:
        allowed.append(ignore.logical_not())
    if keep is not None:
        allowed.append(keep.view(keep.shape[0], 1, 1, -1) > 0)
    if add is not None:
        allowed.append(add > torch.finfo(add.dtype).min)
        total = scores + add
    for mask in allowed[1:]:
        allowed[0] = allowed[0] * mask
    minus = torch.tensor(float("-inf"), dtype=scores.dtype)
    return torch.where(allowed[0], total.to(scores.dtype), minus)

# %% right: everything becomes an additive mask in float64, converted at the end
def masked_scores(scores, attend, ignore, keep, add):
    total = scores.double()
    inf = float("inf")
    if attend is not None:
        total = total + torch.zeros(attend.shape).double().masked_fill(~attend, -inf)
    if ignore is not None:
        total = total + torch.where(ignore, -inf, 0.0)
    if keep is not None:
        total = total + torch.log(keep.double())[:, None, None]
    if add is not None:
        total = total + add.double().masked_fill(add == torch.finfo(add.dtype).min, -inf)
    return total.to(scores.dtype)

# %% right: bias converted to the scores' type first, with its hidden entries set to 0, then masked entry by index
def masked_scores(scores, attend, ignore, keep, add):
    out = scores.clone()
    if add is not None:
        hides = add.le(torch.finfo(add.dtype).min)
        out = out + add.masked_fill(hides, 0).to(out.dtype)
        out[hides.expand_as(out)] = -torch.inf
    if ignore is not None:
        out[ignore.expand_as(out)] = -torch.inf
    if attend is not None:
        out[torch.logical_not(attend).expand_as(out)] = -torch.inf
    if keep is not None:
        out.transpose(1, 3)[keep == 0] = -torch.inf
    return out
