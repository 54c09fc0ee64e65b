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


# %% setup
import math
import torch

# %% wrong: exponentials of lse themselves, which overflow for a few hundred
def merge_parts(output_1, lse_1, output_2, lse_2):
    w1, w2 = torch.exp(lse_1), torch.exp(lse_2)
    total = w1 + w2
    safe = torch.where(total == 0, torch.ones_like(total), total)
    out = (w1 / safe)[..., None] * output_1 + (w2 / safe)[..., None] * output_2
    return out, torch.log(total)

# %% wrong: no guard for queries that have seen nothing in either part, their output is nan
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    a = torch.exp(lse_1 - lse)[..., None]
    b = torch.exp(lse_2 - lse)[..., None]
    return a * output_1 + b * output_2, lse

# %% wrong: subtracts the largest lse of the whole tensor, so a query whose lse is far below it becomes 0/0 or 0
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = torch.maximum(lse_1.max(), lse_2.max())
    w1, w2 = torch.exp(lse_1 - m), torch.exp(lse_2 - m)
    s = w1 + w2
    out = (w1[..., None] * output_1 + w2[..., None] * output_2) / s.clamp_min(1e-30)[..., None]
    return out, m + torch.log(s)

# %% wrong: mean of the outputs, lse right
def merge_parts(output_1, lse_1, output_2, lse_2):
    return (output_1 + output_2) / 2, torch.logaddexp(lse_1, lse_2)

# %% wrong: shares swapped
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    safe = lse.masked_fill(lse == -math.inf, 0.0)
    a = torch.exp(lse_2 - safe)[..., None]
    b = torch.exp(lse_1 - safe)[..., None]
    return a * output_1 + b * output_2, lse

# %% wrong: guards the difference by replacing minus infinity with -1e9 in both lse, and returns an lse of about -1e9 where nothing was seen
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse_1 = lse_1.clamp(min=-1e9)
    lse_2 = lse_2.clamp(min=-1e9)
    lse = torch.logaddexp(lse_1, lse_2)
    out = torch.exp(lse_1 - lse)[..., None] * output_1 + torch.exp(lse_2 - lse)[..., None] * output_2
    return out, lse

# %% wrong: nan_to_num on the lse as well, so minus infinity becomes the most negative float
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    out = torch.exp(lse_1 - lse).unsqueeze(-1) * output_1 + torch.exp(lse_2 - lse).unsqueeze(-1) * output_2
    return torch.nan_to_num(out), torch.nan_to_num(lse)

# %% wrong: fills minus infinity by 0 in the merged lse and returns that
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    lse = lse.masked_fill(torch.isinf(lse), 0.0)
    out = torch.exp(lse_1 - lse)[..., None] * output_1 + torch.exp(lse_2 - lse)[..., None] * output_2
    return out, lse

# %% wrong: weights by the lse itself and not its exponential
def merge_parts(output_1, lse_1, output_2, lse_2):
    a, b = lse_1[..., None], lse_2[..., None]
    return (a * output_1 + b * output_2) / (a + b), torch.logaddexp(lse_1, lse_2)

# %% wrong: sums the weighted outputs relative to the maximum and forgets to divide by the sum of the weights
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = torch.maximum(lse_1, lse_2)
    m0 = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    w1, w2 = torch.exp(lse_1 - m0), torch.exp(lse_2 - m0)
    return w1[..., None] * output_1 + w2[..., None] * output_2, m0 + torch.log(w1 + w2)

# %% wrong: lse_1 + log1p(exp(lse_2 - lse_1)), with cases for minus infinity, overflows if the second lse is more than 88 above the first
def merge_parts(output_1, lse_1, output_2, lse_2):
    no_1, no_2 = torch.isneginf(lse_1), torch.isneginf(lse_2)
    lse = lse_1 + torch.log1p(torch.exp(lse_2 - lse_1))
    lse = torch.where(no_1, lse_2, torch.where(no_2, lse_1, lse))
    safe = torch.where(torch.isneginf(lse), torch.zeros_like(lse), lse)
    out = torch.exp(lse_1 - safe)[..., None] * output_1 + torch.exp(lse_2 - safe)[..., None] * output_2
    return out, lse

# %% wrong: changes lse_1 and lse_2 in place on the way
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    empty = lse == -math.inf
    lse_1[empty] = 0.0
    lse_2[empty] = 0.0
    safe = lse.masked_fill(empty, 0.0)
    out = torch.exp(lse_1 - safe)[..., None] * output_1 + torch.exp(lse_2 - safe)[..., None] * output_2
    return out, lse

# %% wrong: asks only whether a whole part is empty, not single queries
def merge_parts(output_1, lse_1, output_2, lse_2):
    if torch.isinf(lse_1).all():
        return output_2, lse_2
    if torch.isinf(lse_2).all():
        return output_1, lse_1
    lse = torch.logaddexp(lse_1, lse_2)
    out = torch.exp(lse_1 - lse)[..., None] * output_1 + torch.exp(lse_2 - lse)[..., None] * output_2
    return out, lse

# %% wrong: takes the larger lse for the merged one
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = torch.maximum(lse_1, lse_2)
    m0 = m.masked_fill(m == -math.inf, 0)
    w1, w2 = torch.exp(lse_1 - m0)[..., None], torch.exp(lse_2 - m0)[..., None]
    s = w1 + w2
    return (w1 * output_1 + w2 * output_2) / s.masked_fill(s == 0, 1), m

# %% wrong: clamps the exponents to 80 so that nothing overflows
def merge_parts(output_1, lse_1, output_2, lse_2):
    w1, w2 = torch.exp(lse_1.clamp(max=80)), torch.exp(lse_2.clamp(max=80))
    s = w1 + w2
    out = (w1[..., None] * output_1 + w2[..., None] * output_2) / s.masked_fill(s == 0, 1)[..., None]
    return out, torch.logaddexp(lse_1, lse_2)

# %% wrong: subtracts the maximum of the two, but adds a small number to the sum for the logarithm, so the lse of an empty query is finite
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = torch.maximum(lse_1, lse_2)
    m = torch.where(m == -math.inf, 0.0, m)
    w1, w2 = torch.exp(lse_1 - m), torch.exp(lse_2 - m)
    s = w1 + w2 + 1e-9
    out = (w1[..., None] * output_1 + w2[..., None] * output_2) / s[..., None]
    return out, m + torch.log(s)

# %% wrong: adds the two lse
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    safe = lse.masked_fill(lse == -math.inf, 0)
    out = torch.exp(lse_1 - safe)[..., None] * output_1 + torch.exp(lse_2 - safe)[..., None] * output_2
    return out, lse_1 + lse_2

# %% wrong: takes everything below -100 for "has seen nothing"
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    empty = lse < -100
    lse = lse.masked_fill(empty, -math.inf)
    safe = lse.masked_fill(empty, 0.0)
    out = torch.exp(lse_1 - safe)[..., None] * output_1 + torch.exp(lse_2 - safe)[..., None] * output_2
    return out, lse

# %% wrong: where one part was not seen, takes the output of the other whole but the lse of the whole as the unseen one (minus infinity)
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    lse = torch.where(torch.isinf(lse_1) | torch.isinf(lse_2), -math.inf, lse)
    w = torch.sigmoid(lse_1 - lse_2)
    w = torch.where(torch.isnan(w), 0.0, w)[..., None]
    return w * output_1 + (1 - w) * output_2, lse

# %% wrong: computes in float32 whatever came in and returns float32
def merge_parts(output_1, lse_1, output_2, lse_2):
    a, b = lse_1.float(), lse_2.float()
    lse = torch.logaddexp(a, b)
    safe = lse.masked_fill(lse == -math.inf, 0.0)
    out = torch.exp(a - safe)[..., None] * output_1.float() + torch.exp(b - safe)[..., None] * output_2.float()
    return out, lse

# %% wrong: multiplies lse shares without a last dimension
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    safe = lse.masked_fill(lse == -math.inf, 0.0)
    return torch.exp(lse_1 - safe) * output_1 + torch.exp(lse_2 - safe) * output_2, lse

# %% wrong: a softmax over the two lse, fine, but over the wrong axis: stacks in the last dimension and takes dim=0
def merge_parts(output_1, lse_1, output_2, lse_2):
    both = torch.stack([lse_1, lse_2], dim=-1)
    w = torch.nan_to_num(torch.softmax(both, dim=0))
    return w[..., :1] * output_1 + w[..., 1:] * output_2, torch.logsumexp(both, -1)

# %% wrong: log base 2 in the lse
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = torch.maximum(lse_1, lse_2)
    m0 = m.masked_fill(m == -math.inf, 0)
    w1, w2 = torch.exp2(lse_1 - m0), torch.exp2(lse_2 - m0)
    s = w1 + w2
    s1 = s.masked_fill(s == 0, 1)[..., None]
    return (w1[..., None] * output_1 + w2[..., None] * output_2) / s1, m0 + torch.log2(s)

# %% wrong: a part with minus infinity is skipped where the second is empty, but if the first is empty nan_to_num leaves 0 for the output (0 * nan)
def merge_parts(output_1, lse_1, output_2, lse_2):
    ratio = torch.exp(lse_2 - lse_1)
    out = (output_1 + ratio[..., None] * output_2) / (1 + ratio[..., None])
    return torch.nan_to_num(out), torch.logaddexp(lse_1, lse_2)

# %% two mistakes: exponentials overflow, and nan where nothing was seen
def merge_parts(output_1, lse_1, output_2, lse_2):
    w1, w2 = lse_1.exp()[..., None], lse_2.exp()[..., None]
    return (w1 * output_1 + w2 * output_2) / (w1 + w2), torch.log(lse_1.exp() + lse_2.exp())

# %% two mistakes: forgets to divide by the sum, and an lse of nan where nothing was seen
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = torch.maximum(lse_1, lse_2)
    w1, w2 = torch.exp(lse_1 - m), torch.exp(lse_2 - m)
    return w1[..., None] * output_1 + w2[..., None] * output_2, m + torch.log(w1 + w2)

# %% right: logaddexp and a finite number to subtract
def merge_parts(output_1, lse_1, output_2, lse_2):
    lse = torch.logaddexp(lse_1, lse_2)
    safe = torch.where(lse == -math.inf, torch.zeros_like(lse), lse)
    out = torch.exp(lse_1 - safe)[..., None] * output_1 + torch.exp(lse_2 - safe)[..., None] * output_2
    return out, lse

# %% right: sigmoid of the difference, nan_to_num with one half, which multiplies zeros
def merge_parts(output_1, lse_1, output_2, lse_2):
    w = torch.nan_to_num(torch.sigmoid(lse_1 - lse_2), nan=0.5).unsqueeze(-1)
    return output_2 + w * (output_1 - output_2), torch.logaddexp(lse_1, lse_2)

# %% right: stacks the parts, softmax and logsumexp over them, einsum; nan becomes 0
def merge_parts(output_1, lse_1, output_2, lse_2):
    lses = torch.stack([lse_1, lse_2])
    shares = torch.nan_to_num(torch.softmax(lses, dim=0), nan=0.0)
    out = torch.einsum("pbhl,pbhld->bhld", shares, torch.stack([output_1, output_2]))
    return out, torch.logsumexp(lses, dim=0)

# %% right: a loop over all queries with Python's floats
def merge_parts(output_1, lse_1, output_2, lse_2):
    out, lse = torch.zeros_like(output_1), torch.empty_like(lse_1)
    B, H, L = lse_1.shape
    for b in range(B):
        for h in range(H):
            for i in range(L):
                x, y = lse_1[b, h, i].item(), lse_2[b, h, i].item()
                m = max(x, y)
                if m == -math.inf:
                    lse[b, h, i] = m
                    continue
                p, q = math.exp(x - m), math.exp(y - m)
                out[b, h, i] = (p * output_1[b, h, i] + q * output_2[b, h, i]) / (p + q)
                lse[b, h, i] = m + math.log(p + q)
    return out, lse

# %% right: max and boolean assignment into copies
def merge_parts(output_1, lse_1, output_2, lse_2):
    out, lse = output_1.clone(), lse_1.clone()
    seen = torch.isfinite(lse_1) | torch.isfinite(lse_2)
    a, b = lse_1[seen], lse_2[seen]
    m = torch.maximum(a, b)
    p, q = (a - m).exp(), (b - m).exp()
    out[seen] = (p[:, None] * output_1[seen] + q[:, None] * output_2[seen]) / (p + q)[:, None]
    lse[seen] = m + (p + q).log()
    return out, lse

# %% right: in double precision, where exponentials of a few hundred fit after a subtraction of half the sum... simply with softplus of the difference, and lists as return type
def merge_parts(output_1, lse_1, output_2, lse_2):
    a, b = lse_1.double(), lse_2.double()
    hi, lo = torch.maximum(a, b), torch.minimum(a, b)
    gap = torch.where(hi == -math.inf, torch.zeros_like(hi), lo - hi)
    small = torch.exp(gap)
    lse = hi + torch.log1p(small)
    share_hi = 1 / (1 + small)
    w1 = torch.where(a >= b, share_hi, 1 - share_hi)[..., None]
    out = w1 * output_1.double() + (1 - w1) * output_2.double()
    return [out.to(output_1.dtype), lse.to(lse_1.dtype)]


# %% setup
import math
import torch

# %% wrong: lse_2 + log1p(exp(lse_1 - lse_2)), overflows if the FIRST is more than 88 above the second
def merge_parts(output_1, lse_1, output_2, lse_2):
    no_1, no_2 = torch.isneginf(lse_1), torch.isneginf(lse_2)
    lse = lse_2 + torch.log1p(torch.exp(lse_1 - lse_2))
    lse = torch.where(no_1, lse_2, torch.where(no_2, lse_1, lse))
    safe = torch.where(torch.isneginf(lse), torch.zeros_like(lse), lse)
    out = torch.exp(lse_1 - safe)[..., None] * output_1 + torch.exp(lse_2 - safe)[..., None] * output_2
    return out, lse

# %% wrong: subtracts the mean of both lse where finite: overflows for differences of more than 177
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = (lse_1 + lse_2) / 2
    m = torch.where(torch.isinf(m), torch.maximum(lse_1, lse_2), m)
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    w1, w2 = torch.exp(lse_1 - m), torch.exp(lse_2 - m)
    s = w1 + w2
    d = torch.where(s == 0, torch.ones_like(s), s)[..., None]
    return (w1[..., None] * output_1 + w2[..., None] * output_2) / d, m + torch.log(s)

# %% wrong: subtracts always lse_1 (0 where it is minus infinity): overflows if the second is large and the first empty, or far above
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = torch.where(torch.isinf(lse_1), torch.zeros_like(lse_1), lse_1)
    w1, w2 = torch.exp(lse_1 - m), torch.exp(lse_2 - m)
    s = w1 + w2
    d = torch.where(s == 0, torch.ones_like(s), s)[..., None]
    return (w1[..., None] * output_1 + w2[..., None] * output_2) / d, m + torch.log(s)

# %% wrong: same, with cases for an empty first part, so only a gap of more than 88 overflows
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = torch.where(torch.isinf(lse_1), lse_2, lse_1)
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    w1, w2 = torch.exp(lse_1 - m), torch.exp(lse_2 - m)
    s = w1 + w2
    d = torch.where(s == 0, torch.ones_like(s), s)[..., None]
    return (w1[..., None] * output_1 + w2[..., None] * output_2) / d, m + torch.log(s)

# %% wrong: maximum clamped at 0 below: m = max(lse_1, lse_2, 0), so two lse of about -200 underflow
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = torch.maximum(lse_1, lse_2).clamp(min=0)
    w1, w2 = torch.exp(lse_1 - m), torch.exp(lse_2 - m)
    s = w1 + w2
    d = torch.where(s == 0, torch.ones_like(s), s)[..., None]
    return (w1[..., None] * output_1 + w2[..., None] * output_2) / d, m + torch.log(s)

# %% wrong: a maximum per head (over all its queries)
def merge_parts(output_1, lse_1, output_2, lse_2):
    m = torch.maximum(lse_1, lse_2).amax(-1, keepdim=True)
    m = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    w1, w2 = torch.exp(lse_1 - m), torch.exp(lse_2 - m)
    s = w1 + w2
    d = torch.where(s == 0, torch.ones_like(s), s)[..., None]
    return (w1[..., None] * output_1 + w2[..., None] * output_2) / d, m + torch.log(s)

# %% right: exponentials in double precision, without subtracting, which hold up to 709
def merge_parts(output_1, lse_1, output_2, lse_2):
    w1, w2 = torch.exp(lse_1.double()), torch.exp(lse_2.double())
    s = w1 + w2
    d = torch.where(s == 0, torch.ones_like(s), s)[..., None]
    out = (w1[..., None] * output_1 + w2[..., None] * output_2) / d
    return out.to(output_1.dtype), torch.log(s).to(lse_1.dtype)
