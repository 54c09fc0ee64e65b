# %% setup
import torch


# %% wrong: fills hidden scores with -10000 and sets hidden weights to 0 afterwards, so a row whose allowed scores are near -100000 becomes all zeros
def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -1e4), dim=-1)
    return weights * mask


# %% wrong: softmax by hand that subtracts the row maximum over hidden keys too, with a tiny number in the denominator, so allowed keys far below a hidden one all get 0
def masked_softmax(scores, mask):
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask
    return e / (e.sum(dim=-1, keepdim=True) + 1e-12)


# %% wrong: opens the rows that allow nothing by writing into the mask, so weights and gradients are right but the caller's mask is changed
def masked_softmax(scores, mask):
    alive = mask.any(dim=-1, keepdim=True)
    mask |= ~alive
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights * alive


# %% wrong: exponentials of scores clamped to at most 80, without subtracting a maximum, so different scores above 80 get equal weights and rows near -100000 get zeros
def masked_softmax(scores, mask):
    e = torch.exp(scores.clamp(max=80)) * mask
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30)


# %% right: exponentials by hand after subtracting the largest allowed score, with the sum replaced by 1 where nothing is allowed
def masked_softmax(scores, mask):
    mask = mask.expand_as(scores)
    visible = scores.masked_fill(~mask, -torch.inf)
    top = visible.detach().amax(dim=-1, keepdim=True)
    top = torch.where(top.isinf(), torch.zeros_like(top), top)
    e = torch.where(mask, scores - top, torch.zeros_like(scores)).exp() * mask
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(mask.any(dim=-1, keepdim=True), total, torch.ones_like(total))


# %% right: loops over all rows, takes a softmax of the allowed scores alone and scatters it into a row of zeros (a row without any is its scores times 0)
def masked_softmax(scores, mask):
    flat_mask = torch.broadcast_to(mask, scores.shape).reshape(-1, scores.shape[-1])
    rows = []
    for row, allowed in zip(scores.reshape(-1, scores.shape[-1]), flat_mask):
        if allowed.any():
            rows.append(torch.zeros_like(row).masked_scatter(allowed, torch.softmax(row[allowed], dim=0)))
        else:
            rows.append(row * 0)
    return torch.stack(rows).reshape(scores.shape)
