# %% setup
import torch

# %% wrong: fills hidden scores with minus infinity and does nothing else, so rows in which everything is hidden become NaN
def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)

# %% wrong: adds a bias of minus infinity and cleans the NaN afterwards: the weights are right, but the gradient of a fully hidden row is NaN
def masked_softmax(scores, mask):
    bias = torch.zeros_like(scores).masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores + bias, dim=-1)
    return torch.nan_to_num(weights, nan=0.0)

# %% wrong: fills with -1e9, so a row in which everything is hidden gets equal weights instead of zeros
def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)

# %% wrong: subtracts the maximum over all keys, hidden ones included, so the visible weights of a row vanish when a hidden score is far above them
def masked_softmax(scores, mask):
    e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values) * mask
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(total > 0, total, torch.ones_like(total))

# %% wrong: detaches the denominator, so the weights are right but their gradient is that of the numerator alone
def masked_softmax(scores, mask):
    hidden = scores.masked_fill(~mask, float("-inf"))
    top = hidden.max(dim=-1, keepdim=True).values.clamp(min=torch.finfo(scores.dtype).min)
    e = torch.exp(hidden - top.detach())
    total = e.sum(dim=-1, keepdim=True).detach()
    return e / total.clamp(min=1e-9)

# %% wrong: treats the case "everything hidden" only if the whole mask is False, so single fully hidden rows give NaN
def masked_softmax(scores, mask):
    if not mask.any():
        return torch.zeros_like(scores) * scores
    scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1)

# %% two mistakes: exponentiates without subtracting a maximum, which overflows above 100; and leaves rows with everything hidden with equal weights
def masked_softmax(scores, mask):
    e = torch.exp(scores) * mask
    total = e.sum(dim=-1, keepdim=True)
    total = total + (total == 0)  # no division by zero
    uniform = torch.full_like(scores, 1 / scores.shape[-1])
    return torch.where(mask.any(dim=-1, keepdim=True), e / total, uniform)

# %% right: opens the fully hidden rows for the softmax and multiplies them away afterwards
def masked_softmax(scores, mask):
    mask = mask.expand_as(scores)
    alive = mask.any(dim=-1, keepdim=True)
    safe = scores.masked_fill(~(mask | ~alive), float("-inf"))
    return torch.softmax(safe, dim=-1) * alive

# %% right: fills with the lowest number of the dtype and multiplies with the mask
def masked_softmax(scores, mask):
    filled = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    return filled.softmax(dim=-1) * mask.to(scores.dtype)

# %% right: a loop over all rows with the softmax of the visible scores only
def masked_softmax(scores, mask):
    L_k = scores.shape[-1]
    mask_rows = torch.broadcast_to(mask, scores.shape).reshape(-1, L_k)
    rows = []
    for row, allowed in zip(scores.reshape(-1, L_k), mask_rows):
        weights = row * 0.0
        if allowed.any():
            weights = weights.masked_scatter(allowed, torch.softmax(row[allowed], dim=0))
        rows.append(weights)
    return torch.stack(rows).reshape(scores.shape)


# %% wrong: named in the review: fills with -1e9 and sets rows to zero whose weights are all equal
def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
    equal = (weights == weights[..., :1]).all(dim=-1, keepdim=True)
    return weights.masked_fill(equal, 0.0)


# %% wrong: named in the review: sets rows to zero whose scores are all equal after -1e9 is filled in
def masked_softmax(scores, mask):
    filled = scores.masked_fill(~mask, -1e9)
    hidden = filled.amax(dim=-1, keepdim=True) == filled.amin(dim=-1, keepdim=True)
    return torch.where(hidden, torch.zeros_like(filled), torch.softmax(filled, dim=-1))
