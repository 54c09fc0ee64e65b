# %% setup
import math
import torch
import torch.nn.functional as F

# %% wrong: adds up the parts' squares, and so forgets that parts can point the same way or cancel
def logit_shares(parts, norm_weight, eps, row):
    squares = sum(part.pow(2) for part in parts.values())
    size = torch.sqrt(squares.mean(dim=-1) + eps)
    return {name: (part * norm_weight) @ row / size for name, part in parts.items()}


# %% wrong: eps is added to the root and not under it
def logit_shares(parts, norm_weight, eps, row):
    total = sum(parts.values())
    size = total.pow(2).mean(dim=-1).sqrt() + eps
    return {name: (part * norm_weight) @ row / size for name, part in parts.items()}


# %% wrong: one size for all positions of all strings together
def logit_shares(parts, norm_weight, eps, row):
    total = torch.stack(list(parts.values())).sum(dim=0)
    size = torch.sqrt(torch.mean(total**2) + eps)
    return {name: (part / size * norm_weight) @ row for name, part in parts.items()}


# %% wrong: the size is taken after the norm's weight
def logit_shares(parts, norm_weight, eps, row):
    weighted = {name: part * norm_weight for name, part in parts.items()}
    total = sum(weighted.values())
    size = (total.pow(2).mean(dim=-1, keepdim=True) + eps).sqrt()
    return {name: (part / size) @ row for name, part in weighted.items()}


# %% wrong: adds up in place, so the first part becomes the whole stream
def logit_shares(parts, norm_weight, eps, row):
    total = None
    for part in parts.values():
        if total is None:
            total = part
        else:
            total += part
    size = torch.sqrt((total**2).mean(dim=-1) + eps)
    return {name: (part * norm_weight) @ row / size for name, part in parts.items()}


# %% wrong: right numbers, but they are written into the dict that it was given
def logit_shares(parts, norm_weight, eps, row):
    total = sum(parts.values())
    size = torch.sqrt((total**2).mean(dim=-1) + eps)
    for name in parts:
        parts[name] = (parts[name] * norm_weight * row).sum(dim=-1) / size
    return parts


# %% wrong: divides by the standard deviation, as a LayerNorm would
def logit_shares(parts, norm_weight, eps, row):
    total = sum(parts.values())
    size = torch.sqrt(total.var(dim=-1, unbiased=False) + eps)
    return {name: (part * norm_weight) @ row / size for name, part in parts.items()}


# %% two mistakes: each part is divided by its own size; and the norm's weight is forgotten
def logit_shares(parts, norm_weight, eps, row):
    shares = {}
    for name, part in parts.items():
        size = torch.sqrt(part.pow(2).mean(dim=-1, keepdim=True) + eps)
        shares[name] = (part / size) @ row
    return shares


# %% right: all parts stacked, one einsum, divided last
def logit_shares(parts, norm_weight, eps, row):
    stacked = torch.stack(tuple(parts.values()))  # (P, B, L, d_model)
    stream = stacked.sum(dim=0)
    squares = torch.einsum("bld,bld->bl", stream, stream) / len(row)
    shares = torch.einsum("pbld,d,d->pbl", stacked, norm_weight, row) / (squares + eps) ** 0.5
    return dict(zip(parts, shares.unbind()))


# %% right: by differences, what the sum's logit gains when the part joins it
def logit_shares(parts, norm_weight, eps, row):
    whole = torch.zeros_like(next(iter(parts.values())))
    for part in parts.values():
        whole = whole + part
    factor = torch.rsqrt(whole.square().mean(-1, keepdim=True) + eps)  # (B, L, 1)
    shares, so_far = {}, torch.zeros_like(whole)
    said = torch.zeros_like(whole[..., 0])
    for name, part in parts.items():
        so_far = so_far + part
        now = F.linear(so_far * factor * norm_weight, row[None]).squeeze(-1)
        shares[name], said = now - said, now
    return shares


# %% right: three loops, one position after the other
def logit_shares(parts, norm_weight, eps, row):
    direction = row * norm_weight
    B, L, d_model = list(parts.values())[-1].shape
    shares = {name: torch.empty(B, L, dtype=row.dtype) for name in parts}
    for b in range(B):
        for i in range(L):
            x = sum(part[b, i] for part in parts.values())
            size = torch.sqrt(x.dot(x) / d_model + eps)
            for name in parts:
                shares[name][b, i] = parts[name][b, i].dot(direction) / size
    return shares
