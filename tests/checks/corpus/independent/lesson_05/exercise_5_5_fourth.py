# %% setup
import torch

# %% wrong: fills with minus infinity and replaces every NaN by 0 afterwards, so a NaN among the allowed scores goes unseen
def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num()

# %% wrong: fills with -1e9 and multiplies by the mask afterwards; where the allowed scores lie below -1e9 nothing is left
def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask

# %% wrong: multiplies the turned mask by minus infinity and adds that: 0 times infinity is NaN, so every row with an allowed key is NaN
def masked_softmax(scores, mask):
    return torch.softmax(scores + (~mask) * -torch.inf, dim=-1)

# %% wrong: takes the softmax over the queries, so that columns sum to 1, and hidden weights are set to 0
def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-2)
    return weights.masked_fill(~mask, 0.0)

# %% wrong: takes the softmax over the queries, so that columns sum to 1, and a column in which everything is hidden is NaN
def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-2)

# %% wrong: subtracts the largest allowed score from all scores; a hidden one far above it overflows, and an empty row divides 0 by 0
def masked_softmax(scores, mask):
    largest = scores.masked_fill(~mask, -torch.inf).amax(dim=-1, keepdim=True)
    e = (scores - largest).exp() * mask
    return e / e.sum(dim=-1, keepdim=True)

# %% right: minus infinity before the softmax, zeros at the hidden places after it
def masked_softmax(scores, mask):
    return torch.where(mask, torch.softmax(scores.masked_fill(~mask, -torch.inf), -1), 0.0)

# %% right: computes only the rows that allow something, and puts them between rows of zeros
def masked_softmax(scores, mask):
    mask = mask.expand_as(scores)
    alive = mask.any(dim=-1)
    rows = torch.softmax(torch.where(mask, scores, -torch.inf)[alive], dim=-1)
    return torch.zeros_like(scores).masked_scatter(alive[..., None].expand_as(scores), rows)
