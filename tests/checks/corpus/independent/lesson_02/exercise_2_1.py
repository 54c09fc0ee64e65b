# %% setup
import torch

# %% wrong: subtracts the largest score of the whole tensor, so a row far below it has only zeros and becomes NaN
def softmax(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True)

# %% wrong: subtracts the mean of the row instead of its maximum, so a row with scores far apart still overflows to NaN
def softmax(scores):
    e = (scores - scores.mean(dim=-1, keepdim=True)).exp()
    return e / e.sum(dim=-1, keepdim=True)

# %% wrong: works over dim=1, which is the last dimension of a matrix but the query axis of a batch
def softmax(scores):
    top = scores.max(dim=1, keepdim=True).values
    e = torch.exp(scores - top)
    return e / e.sum(dim=1, keepdim=True)

# %% wrong: converts the scores to float32, so the dtype of float64 (or half) scores is not kept
def softmax(scores):
    scores = scores.float()
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)

# %% wrong: clamps the scores to -50..50 against overflow, so differences between larger scores are lost
def softmax(scores):
    e = torch.exp(scores.clamp(-50, 50))
    return e / e.sum(dim=-1, keepdim=True)

# %% wrong: lets the exponentials overflow and replaces NaN by 0 afterwards, so rows with large scores do not sum to 1
def softmax(scores):
    e = torch.exp(scores)
    return torch.nan_to_num(e / e.sum(dim=-1, keepdim=True), nan=0.0)

# %% two mistakes: does not subtract a maximum, so large scores overflow; and sums over dim=-2, the queries, instead of the last dimension
def softmax(scores):
    e = torch.exp(scores)
    return e / e.sum(dim=-2, keepdim=True)

# %% right: takes the logarithm of the sum by repeated logaddexp over the columns
def softmax(scores):
    total = None
    for column in scores.unbind(dim=-1):
        total = column if total is None else torch.logaddexp(total, column)
    shifted = scores - total.unsqueeze(-1)
    weights = shifted.exp()
    return weights / weights.sum(dim=-1, keepdim=True)

# %% right: works with powers of two instead of e
def softmax(scores):
    shifted = scores - scores.amax(dim=-1, keepdim=True)
    powers = torch.exp2(shifted * 1.4426950408889634)
    return powers / powers.sum(-1, keepdim=True)

# %% right: flattens all leading dimensions, treats row by row in a loop, and restores the shape
def softmax(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        e = (row - row.sort().values[-1]).exp()
        rows.append(torch.div(e, e.sum()))
    return torch.stack(rows).view(scores.shape)


# %% wrong: named in the review: works in float32 and hands float32 back for other dtypes
def softmax(scores):
    scores = scores.float()
    weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return weights / weights.sum(dim=-1, keepdim=True)


# %% right: named in the review: subtracts the logarithm of the sum that logcumsumexp gives in its last column
def softmax(scores):
    return (scores - scores.logcumsumexp(dim=-1)[..., -1:]).exp()
