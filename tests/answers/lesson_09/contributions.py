# %% setup
import torch
import torch.nn.functional as F

# %% wrong: normalizes each part by itself
def contributions(parts, weight, bias, W, eps):
    normed = F.layer_norm(parts, weight.shape, weight, None, eps)
    return normed @ W.T, W @ bias

# %% wrong: what the logits gain as the parts are added one after the other
def contributions(parts, weight, bias, W, eps):
    logits = F.layer_norm(parts.cumsum(0), weight.shape, weight, None, eps) @ W.T
    return torch.cat([logits[:1], logits[1:] - logits[:-1]]), W @ bias

# %% wrong: the bias goes into every part
def contributions(parts, weight, bias, W, eps):
    total = parts.sum(0)
    deviation = (total.var(-1, keepdim=True, correction=0) + eps).sqrt()
    centered = parts - parts.mean(-1, keepdim=True)
    return (centered / deviation * weight + bias) @ W.T, W @ bias

# %% wrong: forgets to take the mean off
def contributions(parts, weight, bias, W, eps):
    deviation = (parts.sum(0).var(-1, keepdim=True, correction=0) + eps).sqrt()
    return (parts / deviation * weight) @ W.T, W @ bias

# %% wrong: the unbiased variance
def contributions(parts, weight, bias, W, eps):
    deviation = (parts.sum(0).var(-1, keepdim=True) + eps).sqrt()
    return ((parts - parts.mean(-1, keepdim=True)) / deviation * weight) @ W.T, W @ bias

# %% two mistakes: no mean taken off; and the bias itself as the rest
def contributions(parts, weight, bias, W, eps):
    deviation = (parts.sum(0).var(-1, keepdim=True, correction=0) + eps).sqrt()
    return (parts / deviation * weight) @ W.T, bias + 0

# %% right: the mean is taken off in the matrix
def contributions(parts, weight, bias, W, eps):
    folded = W * weight
    folded = folded - folded.mean(1, keepdim=True)
    total = parts.sum(0)
    deviation = ((total - total.mean(-1, keepdim=True)).square().mean(-1) + eps).sqrt()
    return torch.einsum("nld,vd->nlv", parts, folded) / deviation[None, :, None], W @ bias

# %% right: a loop over the parts
def contributions(parts, weight, bias, W, eps):
    total = sum(parts)
    scale = 1 / torch.sqrt(total.var(-1, unbiased=False) + eps)
    written = [((p - p.mean(-1, keepdim=True)) * scale[:, None] * weight) @ W.T for p in parts]
    return torch.stack(written), (W * bias).sum(-1)
