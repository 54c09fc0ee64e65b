# %% setup
import torch
import torch.nn.functional as F

# %% wrong: normalizes each part by its own variance
def contributions(parts, weight, bias, W, eps):
    mean = parts.mean(dim=-1, keepdim=True)
    var = parts.var(dim=-1, keepdim=True, unbiased=False)
    normed = (parts - mean) / torch.sqrt(var + eps)
    return (normed * weight) @ W.T, W @ bias

# %% wrong: divides each part by the right number but takes no mean off
def contributions(parts, weight, bias, W, eps):
    total = parts.sum(dim=0)
    std = torch.sqrt(total.var(dim=-1, keepdim=True, unbiased=False) + eps)
    return (parts / std * weight) @ W.T, W @ bias

# %% wrong: takes the mean of the whole sum off every part
def contributions(parts, weight, bias, W, eps):
    total = parts.sum(0)
    mu = total.mean(-1, keepdim=True)
    sigma = ((total - mu) ** 2).mean(-1, keepdim=True)
    z = (parts - mu) / (sigma + eps).sqrt()
    return z * weight @ W.T, W @ bias

# %% wrong: takes an equal share of the sum's mean off every part, so the sum fits but a part that is split counts twice
def contributions(parts, weight, bias, W, eps):
    n = len(parts)
    total = parts.sum(0)
    mu = total.mean(-1, keepdim=True)
    var = (total - mu).square().mean(-1, keepdim=True)
    z = (parts - mu / n) / torch.sqrt(var + eps)
    return (z * weight) @ W.T, W @ bias

# %% wrong: the variance with d - 1
def contributions(parts, weight, bias, W, eps):
    total = parts.sum(dim=0)
    centered = parts - parts.mean(dim=-1, keepdim=True)
    scale = torch.sqrt(total.var(dim=-1, keepdim=True) + eps)
    return (centered / scale * weight) @ W.T, W @ bias

# %% wrong: adds epsilon to the deviation, outside the root
def contributions(parts, weight, bias, W, eps):
    std = parts.sum(0).std(-1, keepdim=True, unbiased=False)
    written = ((parts - parts.mean(-1, keepdim=True)) / (std + eps) * weight) @ W.T
    return written, W @ bias

# %% wrong: leaves the norm's weight out
def contributions(parts, weight, bias, W, eps):
    total = parts.sum(0)
    var = total.var(-1, keepdim=True, unbiased=False)
    centered = parts - parts.mean(-1, keepdim=True)
    return centered / torch.sqrt(var + eps) @ W.T, W @ bias

# %% wrong: the rest multiplies the norm's bias by the norm's weight
def contributions(parts, weight, bias, W, eps):
    var = parts.sum(0).var(-1, keepdim=True, unbiased=False)
    matrix = W * weight
    centered = parts - parts.mean(-1, keepdim=True)
    return centered / torch.sqrt(var + eps) @ matrix.T, matrix @ bias

# %% wrong: sends each part through the whole rest of the norm with its bias, which is counted n times and once more
def contributions(parts, weight, bias, W, eps):
    var = parts.sum(0).var(-1, keepdim=True, unbiased=False)
    centered = parts - parts.mean(-1, keepdim=True)
    normed = centered / torch.sqrt(var + eps) * weight + bias
    return normed @ W.T, W @ bias

# %% wrong: adds up the variances of the parts instead of taking the variance of their sum
def contributions(parts, weight, bias, W, eps):
    centered = parts - parts.mean(dim=-1, keepdim=True)
    var = centered.square().mean(dim=-1, keepdim=True).sum(dim=0)
    return (centered / torch.sqrt(var + eps) * weight) @ W.T, W @ bias

# %% wrong: one variance for all tokens together
def contributions(parts, weight, bias, W, eps):
    total = parts.sum(0)
    var = (total - total.mean(-1, keepdim=True)).square().mean()
    centered = parts - parts.mean(-1, keepdim=True)
    return (centered / torch.sqrt(var + eps) * weight) @ W.T, W @ bias

# %% wrong: divides by the root mean square of the sum, as RMSNorm does, though the mean is taken off each part
def contributions(parts, weight, bias, W, eps):
    total = parts.sum(0)
    ms = total.square().mean(-1, keepdim=True)
    centered = parts - parts.mean(-1, keepdim=True)
    return (centered / torch.sqrt(ms + eps) * weight) @ W.T, W @ bias

# %% wrong: takes off the mean over the parts (dim 0) instead of over the features
def contributions(parts, weight, bias, W, eps):
    total = parts.sum(0)
    var = total.var(-1, keepdim=True, unbiased=False)
    centered = parts - parts.mean(dim=0)
    return (centered / torch.sqrt(var + eps) * weight) @ W.T, W @ bias

# %% wrong: the mean of the parts in the place of their sum when it works out the variance
def contributions(parts, weight, bias, W, eps):
    stream = parts.mean(dim=0)
    var = stream.var(dim=-1, keepdim=True, unbiased=False)
    centered = parts - parts.mean(dim=-1, keepdim=True)
    return (centered / torch.sqrt(var + eps) * weight) @ W.T, W @ bias

# %% wrong: spreads the bias evenly over the parts and leaves a rest of 0
def contributions(parts, weight, bias, W, eps):
    n = parts.shape[0]
    var = parts.sum(0).var(-1, keepdim=True, unbiased=False)
    centered = parts - parts.mean(-1, keepdim=True)
    normed = centered / torch.sqrt(var + eps) * weight + bias / n
    return normed @ W.T, torch.zeros(W.shape[0], dtype=W.dtype)

# %% wrong: divides by the variance, without the root
def contributions(parts, weight, bias, W, eps):
    total = parts.sum(0)
    var = total.var(-1, keepdim=True, unbiased=False)
    centered = parts - parts.mean(-1, keepdim=True)
    return (centered / (var + eps) * weight) @ W.T, W @ bias

# %% wrong: works out the divisor from the sum without its gradient
def contributions(parts, weight, bias, W, eps):
    with torch.no_grad():
        std = torch.sqrt(parts.sum(0).var(-1, keepdim=True, unbiased=False) + eps)
    centered = parts - parts.mean(-1, keepdim=True)
    return (centered / std * weight) @ W.T, W @ bias

# %% wrong: what the logits gain as the parts are added one after the other
def contributions(parts, weight, bias, W, eps):
    logits = F.layer_norm(parts.cumsum(0), weight.shape, weight, None, eps) @ W.T
    return torch.cat([logits[:1], logits[1:] - logits[:-1]]), W @ bias

# %% two mistakes: no mean taken off, and the variance with d - 1
def contributions(parts, weight, bias, W, eps):
    scale = torch.sqrt(parts.sum(0).var(dim=-1, keepdim=True) + eps)
    return (parts / scale * weight) @ W.T, W @ bias

# %% two mistakes: each part divided by its own deviation, and the norm's weight left out
def contributions(parts, weight, bias, W, eps):
    var = parts.var(dim=-1, keepdim=True, unbiased=False)
    normed = (parts - parts.mean(dim=-1, keepdim=True)) / torch.sqrt(var + eps)
    return normed @ W.T, W @ bias

# %% two mistakes: no mean taken off; and the bias itself as the rest
def contributions(parts, weight, bias, W, eps):
    deviation = (parts.sum(0).var(-1, keepdim=True, correction=0) + eps).sqrt()
    return (parts / deviation * weight) @ W.T, bias + 0

# %% right: what is missing in the logits if the part is left out and the divisor is held
def contributions(parts, weight, bias, W, eps):
    total = parts.sum(0)
    std = torch.sqrt(total.var(-1, keepdim=True, unbiased=False) + eps)

    def logits(stream):
        z = (stream - stream.mean(-1, keepdim=True)) / std
        return F.linear(z * weight + bias, W)

    whole = logits(total)
    return torch.stack([whole - logits(total - part) for part in parts]), W @ bias

# %% right: the mean and the weight folded into W first, then one product
def contributions(parts, weight, bias, W, eps):
    M = W * weight
    M = M - M.mean(dim=1, keepdim=True)
    var = torch.var(parts.sum(0), dim=-1, correction=0)
    written = torch.einsum("nld,vd->nlv", parts, M) / torch.sqrt(var + eps)[..., None]
    return written, F.linear(bias, W)

# %% right: token by token and part by part
def contributions(parts, weight, bias, W, eps):
    n, L, d = parts.shape
    rows = []
    for t in range(L):
        total = sum(parts[i, t] for i in range(n))
        off = total - total.mean()
        scale = (off @ off / d + eps) ** -0.5
        rows.append(torch.stack([W @ (weight * (p - p.mean()) * scale) for p in parts[:, t]]))
    return torch.stack(rows, dim=1), W @ bias

# %% right: a square matrix that takes the mean off, and the reciprocal root
def contributions(parts, weight, bias, W, eps):
    d = parts.shape[-1]
    center = torch.eye(d, dtype=parts.dtype) - torch.full((d, d), 1 / d, dtype=parts.dtype)
    centered = parts @ center
    size = centered.sum(dim=0).pow(2).mean(dim=-1, keepdim=True).add(eps).rsqrt()
    return [centered * size @ torch.diag(weight) @ W.T, (W * bias).sum(-1)]
