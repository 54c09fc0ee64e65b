# %% setup
import torch
from course_utils import attention

# %% wrong: the points see themselves, so the smallest bandwidth always wins
def leave_one_out(x, y, bandwidths):
    errors = []
    for h in bandwidths:
        w = torch.softmax(-((x[:, None] - x) ** 2) / (2 * h**2), dim=-1)
        errors.append(((w @ y - y) ** 2).mean())
    errors = torch.stack(errors)
    return errors, bandwidths[errors.argmin()]

# %% wrong: sets the diagonal of the weights to 0 after the softmax and does not share out what is missing
def leave_one_out(x, y, bandwidths):
    off = 1 - torch.eye(len(x), dtype=x.dtype)
    errors = torch.stack([
        (((torch.softmax(-((x[:, None] - x) ** 2) / (2 * h**2), dim=-1) * off) @ y - y) ** 2).mean() for h in bandwidths
    ])
    return errors, bandwidths[errors.argmin()]

# %% wrong: hides every pair at distance 0, so that two points with the same x do not see each other
def leave_one_out(x, y, bandwidths):
    d = (x[:, None] - x) ** 2
    s = (-d / (2 * bandwidths[:, None, None] ** 2)).masked_fill(d == 0, float("-inf"))
    errors = ((torch.softmax(s, -1) @ y - y) ** 2).mean(-1)
    return errors, bandwidths[errors.argmin()]

# %% wrong: returns the position of the best bandwidth
def leave_one_out(x, y, bandwidths):
    hide = torch.eye(len(x)).bool()
    s = -((x[:, None] - x) ** 2) / (2 * bandwidths[:, None, None] ** 2)
    errors = ((torch.softmax(s.masked_fill(hide, float("-inf")), -1) @ y - y) ** 2).mean(-1)
    return errors, errors.argmin()

# %% wrong: zeroes the diagonal of the kernel and divides by the row sum, so a lonely point is 0 / 0
def leave_one_out(x, y, bandwidths):
    g = torch.exp(-((x[:, None] - x) ** 2) / (2 * bandwidths[:, None, None] ** 2))
    g = g * (1 - torch.eye(len(x), dtype=x.dtype))
    w = g / g.sum(-1, keepdim=True)
    errors = ((w @ y - y) ** 2).mean(-1)
    return errors, bandwidths[errors.argmin()]

# %% two mistakes: points see themselves, and the errors are added up instead of averaged
def leave_one_out(x, y, bandwidths):
    s = -((x[:, None] - x) ** 2) / (2 * bandwidths[:, None, None] ** 2)
    errors = ((torch.softmax(s, -1) @ y - y) ** 2).sum(-1)
    return errors, bandwidths[errors.argmin()]

# %% two mistakes: the bandwidth is not squared, and the absolute error is taken
def leave_one_out(x, y, bandwidths):
    hide = torch.eye(len(x)).bool()
    s = -((x[:, None] - x) ** 2) / (2 * bandwidths[:, None, None])
    errors = (torch.softmax(s.masked_fill(hide, float("-inf")), -1) @ y - y).abs().mean(-1)
    return errors, bandwidths[errors.argmin()]

# %% wrong: hides the diagonal by a large number, which a very lonely point undercuts
def leave_one_out(x, y, bandwidths):
    scores = -((x[:, None] - x[None, :]) ** 2) / (2 * bandwidths[:, None, None] ** 2)
    weights = torch.softmax(scores.masked_fill(torch.eye(len(x)).bool(), -1e5), dim=-1)
    errors = ((weights @ y - y) ** 2).mean(dim=-1)
    return errors, bandwidths[errors.argmin()]

# %% right: one bandwidth after another, with the library's masked softmax
def leave_one_out(x, y, bandwidths):
    others = ~torch.eye(len(x), dtype=torch.bool)
    errors = []
    for h in bandwidths:
        weights = attention.masked_softmax(-torch.square(x[:, None] - x[None]) / (2 * h * h), others)
        errors.append(torch.mean(torch.square(weights @ y - y)))
    errors = torch.stack(errors)
    return errors, bandwidths[torch.argmin(errors)]

# %% right: adds a table of minus infinity on the diagonal, and sorts the errors
def leave_one_out(x, y, bandwidths):
    wall = torch.zeros(len(x), len(x), dtype=x.dtype).fill_diagonal_(-torch.inf)
    scores = torch.stack([wall - torch.pow((x[None] - x[:, None]) / h, 2) / 2 for h in bandwidths])
    weights = torch.exp(scores - torch.logsumexp(scores, dim=2, keepdim=True))
    residual = torch.einsum("mij,j->mi", weights, y) - y
    errors = residual.pow(2).mean(1)
    return errors, bandwidths[errors.argsort()[0]]

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: gives the best error in place of the best bandwidth
def leave_one_out(x, y, bandwidths):
    squared = (x[:, None] - x) ** 2
    scores = -squared / (2 * bandwidths[:, None, None] ** 2)
    itself = torch.eye(len(x), dtype=torch.bool)
    w = scores.masked_fill(itself, -torch.inf).softmax(dim=-1)
    errors = ((w @ y - y) ** 2).mean(dim=-1)
    return errors, errors.min()

# %% wrong: the absolute value of the differences in place of their squares
def leave_one_out(x, y, bandwidths):
    squared = (x[:, None] - x) ** 2
    scores = -squared / (2 * bandwidths[:, None, None] ** 2)
    itself = torch.eye(len(x), dtype=torch.bool)
    w = scores.masked_fill(itself, -torch.inf).softmax(dim=-1)
    errors = (w @ y - y).abs().mean(dim=-1)
    return errors, bandwidths[errors.argmin()]

# %% two mistakes: every point sees itself; and the bandwidth multiplies (missing parentheses)
def leave_one_out(x, y, bandwidths):
    errors = []
    for h in bandwidths:
        w = torch.softmax(-((x[:, None] - x) ** 2) / 2 * h**2, dim=-1)
        errors.append(((w @ y - y) ** 2).mean())
    errors = torch.stack(errors)
    return errors, bandwidths[errors.argmin()]

# %% right: all bandwidths at once, the diagonal as an added matrix
def leave_one_out(x, y, bandwidths):
    hidden = torch.zeros(len(x), len(x), dtype=x.dtype).fill_diagonal_(float("-inf"))
    scores = hidden - 0.5 * ((x[:, None] - x) / bandwidths.view(-1, 1, 1)).pow(2)
    guess = torch.einsum("mij,j->mi", F.softmax(scores, -1), y)
    errors = (guess - y).square().mean(-1)
    return errors, bandwidths.gather(0, errors.argmin(0, keepdim=True)).squeeze(0)

# %% setup
import torch

# %% wrong: best is made anew from .item(), so no gradient reaches the bandwidths
def leave_one_out(x, y, bandwidths):
    d = (x[:, None] - x) ** 2
    s = -d / (2 * bandwidths[:, None, None] ** 2)
    s = s.masked_fill(torch.eye(len(x), dtype=torch.bool), -torch.inf)
    errors = ((torch.softmax(s, dim=-1) @ y - y) ** 2).mean(dim=-1)
    return errors, torch.tensor(bandwidths[errors.argmin()].item(), dtype=x.dtype)
