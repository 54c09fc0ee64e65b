# %% setup
import torch

# %% wrong: the maximum of the whole tensor is subtracted, so a row far below it underflows to 0/0 = NaN
def softmax(scores):
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum(dim=-1, keepdim=True)

# %% wrong: works along dim 1, which is the last one only for two axes; for (B, L_q, L_k) the queries compete
def softmax(scores):
    exp = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
    return exp / exp.sum(dim=1, keepdim=True)

# %% wrong: the scores are clamped to -50..50 against overflow, so scores beyond that are treated as equal
def softmax(scores):
    exp = scores.clamp(-50, 50).exp()
    return exp / exp.sum(dim=-1, keepdim=True)

# %% wrong: the exponentials are computed without gradients, so none flow through the answer
def softmax(scores):
    with torch.no_grad():
        exp = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return exp / exp.sum(dim=-1, keepdim=True)

# %% two mistakes: no maximum is subtracted, so large scores overflow to NaN; and the sum runs over dim -2 instead of the last one
def softmax(scores):
    exp = scores.exp()
    return exp / exp.sum(dim=-2, keepdim=True)

# %% right: every row on its own in a loop, then stacked and put back into shape
def softmax(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        exp = (row - row.max().detach()).exp()
        rows.append(exp / exp.sum())
    return torch.stack(rows).reshape(scores.shape)

# %% right: powers of 2 of the shifted scores, divided by their L1 norm through F.normalize
def softmax(scores):
    import math
    import torch.nn.functional as F
    shifted = scores - scores.amax(dim=-1, keepdim=True)
    return F.normalize(torch.exp2(shifted * math.log2(math.e)), p=1.0, dim=-1)
