# %% setup
import math
import torch


# %% wrong: exponentials overflow
def merge_parts(output_1, lse_1, output_2, lse_2):
    a, b = lse_1.exp(), lse_2.exp()
    total = a + b
    safe = torch.where(total == 0, torch.ones_like(total), total)
    return (a[..., None] * output_1 + b[..., None] * output_2) / safe[..., None], torch.log(total)


# %% wrong: NaN where nothing has been seen in both parts
def merge_parts(output_1, lse_1, output_2, lse_2):
    shares = torch.softmax(torch.stack((lse_1, lse_2)), dim=0)[..., None]
    return shares[0] * output_1 + shares[1] * output_2, torch.logsumexp(torch.stack((lse_1, lse_2)), dim=0)


# %% wrong: the mean of the two outputs
def merge_parts(output_1, lse_1, output_2, lse_2):
    return (output_1 + output_2) / 2, torch.logaddexp(lse_1, lse_2)


# %% wrong: adds the two lse up
def merge_parts(output_1, lse_1, output_2, lse_2):
    share = torch.sigmoid(torch.nan_to_num(lse_1 - lse_2, nan=0.0, posinf=math.inf, neginf=-math.inf))[..., None]
    return share * output_1 + (1 - share) * output_2, lse_1 + lse_2


# %% wrong: subtracts the maximum, and forgets to put it back into the lse
def merge_parts(output_1, lse_1, output_2, lse_2):
    top = torch.maximum(lse_1, lse_2)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    a, b = (lse_1 - top).exp(), (lse_2 - top).exp()
    total = (a + b).clamp(min=1e-30)
    return (a[..., None] * output_1 + b[..., None] * output_2) / total[..., None], torch.log(a + b)


# %% two mistakes: the larger lse comes back; and the shares are exchanged
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    safe = torch.where(torch.isinf(lse), torch.zeros_like(lse), lse)
    a, b = (lse_1 - safe).exp()[..., None], (lse_2 - safe).exp()[..., None]
    return b * output_1 + a * output_2, torch.maximum(lse_1, lse_2)


# %% right: the larger taken out, the sum divided by, and where nothing is seen a division by 1
def merge_parts(output_1, lse_1, output_2, lse_2):
    top = torch.maximum(lse_1, lse_2)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    a, b = (lse_1 - top).exp(), (lse_2 - top).exp()
    total = a + b
    divisor = torch.where(total == 0, torch.ones_like(total), total)
    output = (a[..., None] * output_1 + b[..., None] * output_2) / divisor[..., None]
    return output, torch.log(total) + top


# %% right: a sigmoid of the difference, 0 where it is no number
def merge_parts(output_1, lse_1, output_2, lse_2):
    difference = lse_1 - lse_2
    difference = torch.where(difference.isnan(), torch.zeros_like(difference), difference)
    share = torch.sigmoid(difference)[..., None]
    return share * output_1 + (1 - share) * output_2, torch.logsumexp(torch.stack((lse_1, lse_2)), dim=0)


# %% right: a softmax over the two parts, and zeros for NaN
def merge_parts(output_1, lse_1, output_2, lse_2):
    both = torch.stack((lse_1, lse_2), dim=-1)
    shares = both.softmax(dim=-1).nan_to_num(0.0).unsqueeze(-2)
    return (shares * torch.stack((output_1, output_2), dim=-1)).sum(-1), both.logsumexp(dim=-1)


# %% setup
import math
import itertools
import functools
import torch
import torch.nn.functional as F


# %% wrong: the mean of the outputs
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    return (output_1 + output_2) / 2, lse


# %% wrong: plain exponentials overflow
def merge_parts(output_1, lse_1, output_2, lse_2):
    sum_1, sum_2 = lse_1.exp(), lse_2.exp()
    total = sum_1 + sum_2
    safe = torch.where(total == 0, torch.ones_like(total), total)
    output = (sum_1 / safe)[..., None] * output_1 + (sum_2 / safe)[..., None] * output_2
    return output, torch.log(total)


# %% wrong: queries that saw nothing in either part become NaN
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    share_1 = torch.exp(lse_1 - lse)[..., None]
    share_2 = torch.exp(lse_2 - lse)[..., None]
    return share_1 * output_1 + share_2 * output_2, lse


# %% wrong: the shares are swapped
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    safe = lse.masked_fill(lse == -math.inf, 0.0)
    share_1 = torch.exp(lse_1 - safe)[..., None]
    share_2 = torch.exp(lse_2 - safe)[..., None]
    return share_2 * output_1 + share_1 * output_2, lse


# %% wrong: the returned lse is the larger one of the two
def merge_parts(output_1, lse_1, output_2, lse_2):
    top = torch.maximum(lse_1, lse_2)
    safe = top.masked_fill(top == -math.inf, 0.0)
    w_1 = torch.exp(lse_1 - safe)[..., None]
    w_2 = torch.exp(lse_2 - safe)[..., None]
    total = w_1 + w_2
    output = (w_1 * output_1 + w_2 * output_2) / total.masked_fill(total == 0, 1.0)
    return output, top


# %% wrong: the lse of a query that saw nothing comes back as 0
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    lse = torch.where(torch.isinf(lse), torch.zeros_like(lse), lse)
    share_1 = torch.exp(lse_1 - lse)[..., None]
    share_2 = torch.exp(lse_2 - lse)[..., None]
    return share_1 * output_1 + share_2 * output_2, lse


# %% wrong: the largest lse of all queries is subtracted, so others underflow
def merge_parts(output_1, lse_1, output_2, lse_2):
    top = torch.maximum(lse_1.max(), lse_2.max())
    if top == -math.inf:
        return output_1, lse_1
    w_1, w_2 = torch.exp(lse_1 - top), torch.exp(lse_2 - top)
    total = w_1 + w_2
    safe = torch.where(total > 0, total, torch.ones_like(total))
    output = (w_1[..., None] * output_1 + w_2[..., None] * output_2) / safe[..., None]
    return output, top + torch.log(total)


# %% right: a sigmoid of the difference
def merge_parts(output_1, lse_1, output_2, lse_2):
    share = torch.sigmoid(lse_1 - lse_2).nan_to_num(0.0).unsqueeze(-1)
    return torch.lerp(output_2, output_1, share), torch.logaddexp(lse_1, lse_2)


# %% right: stack the parts, softmax over them, einsum
def merge_parts(output_1, lse_1, output_2, lse_2):
    lses = torch.stack([lse_1, lse_2])
    outputs = torch.stack([output_1, output_2])
    shares = torch.nan_to_num(torch.softmax(lses, dim=0), nan=0.0)
    return torch.einsum("pbhl,pbhld->bhld", shares, outputs), torch.logsumexp(lses, dim=0)
