# %% setup
import torch
import torch.nn.functional as F

# %% wrong: takes the point's own weight away after the softmax and does not divide again
def leave_one_out(x, y, bandwidths):
    squared = (x[:, None] - x) ** 2
    errors = []
    for h in bandwidths:
        w = torch.softmax(-squared / (2 * h**2), dim=-1)
        w = w * (1 - torch.eye(len(x), dtype=w.dtype))
        errors.append(((w @ y - y) ** 2).mean())
    errors = torch.stack(errors)
    return errors, bandwidths[errors.argmin()]

# %% wrong: exponential, diagonal to 0, division: 0 / 0 for a point far away from all others
def leave_one_out(x, y, bandwidths):
    squared = (x[:, None] - x) ** 2
    errors = []
    for h in bandwidths:
        G = torch.exp(-squared / (2 * h**2)) * (1 - torch.eye(len(x), dtype=x.dtype))
        w = G / G.sum(dim=-1, keepdim=True)
        errors.append(((w @ y - y) ** 2).mean())
    errors = torch.stack(errors)
    return errors, bandwidths[errors.argmin()]

# %% wrong: hides every reading at the same x, not only the point itself
def leave_one_out(x, y, bandwidths):
    squared = (x[:, None] - x) ** 2
    scores = -squared / (2 * bandwidths[:, None, None] ** 2)
    w = scores.masked_fill(squared == 0, -torch.inf).softmax(dim=-1)
    errors = ((w @ y - y) ** 2).mean(dim=-1)
    return errors, bandwidths[errors.argmin()]

# %% wrong: gives the position of the best bandwidth
def leave_one_out(x, y, bandwidths):
    squared = (x[:, None] - x) ** 2
    scores = -squared / (2 * bandwidths[:, None, None] ** 2)
    itself = torch.eye(len(x), dtype=torch.bool)
    w = scores.masked_fill(itself, -torch.inf).softmax(dim=-1)
    errors = ((w @ y - y) ** 2).mean(dim=-1)
    return errors, errors.argmin()

# %% wrong: gives the best error in place of the best bandwidth
def leave_one_out(x, y, bandwidths):
    squared = (x[:, None] - x) ** 2
    scores = -squared / (2 * bandwidths[:, None, None] ** 2)
    itself = torch.eye(len(x), dtype=torch.bool)
    w = scores.masked_fill(itself, -torch.inf).softmax(dim=-1)
    errors = ((w @ y - y) ** 2).mean(dim=-1)
    return errors, errors.min()

# %% wrong: fills the diagonal with 0 in place of minus infinity, which is the best score there is
def leave_one_out(x, y, bandwidths):
    squared = (x[:, None] - x) ** 2
    scores = -squared / (2 * bandwidths[:, None, None] ** 2)
    scores = scores * (1 - torch.eye(len(x), dtype=x.dtype))
    w = scores.softmax(dim=-1)
    errors = ((w @ y - y) ** 2).mean(dim=-1)
    return errors, bandwidths[errors.argmin()]

# %% wrong: the absolute value of the differences in place of their squares
def leave_one_out(x, y, bandwidths):
    squared = (x[:, None] - x) ** 2
    scores = -squared / (2 * bandwidths[:, None, None] ** 2)
    itself = torch.eye(len(x), dtype=torch.bool)
    w = scores.masked_fill(itself, -torch.inf).softmax(dim=-1)
    errors = (w @ y - y).abs().mean(dim=-1)
    return errors, bandwidths[errors.argmin()]

# %% wrong: a loop over the points, as on the page
def leave_one_out(x, y, bandwidths):
    errors = []
    for h in bandwidths:
        total = 0.0
        for j in range(len(x)):
            seen = torch.arange(len(x)) != j
            w = torch.softmax(-((x[j] - x[seen]) ** 2) / (2 * h**2), dim=0)
            total = total + (w @ y[seen] - y[j]) ** 2
        errors.append(total / len(x))
    errors = torch.stack(errors)
    return errors, bandwidths[errors.argmin()]

# %% two mistakes: every point sees itself; and the bandwidth multiplies (missing parentheses)
def leave_one_out(x, y, bandwidths):
    errors = []
    for h in bandwidths:
        w = torch.softmax(-((x[:, None] - x) ** 2) / 2 * h**2, dim=-1)
        errors.append(((w @ y - y) ** 2).mean())
    errors = torch.stack(errors)
    return errors, bandwidths[errors.argmin()]

# %% two mistakes: the root of the mean; and the position of the best
def leave_one_out(x, y, bandwidths):
    errors = []
    for h in bandwidths:
        scores = -((x[:, None] - x) ** 2) / (2 * h**2)
        scores.fill_diagonal_(-torch.inf)
        errors.append(F.mse_loss(torch.softmax(scores, dim=-1) @ y, y).sqrt())
    errors = torch.stack(errors)
    return errors, errors.argmin()

# %% right: all bandwidths at once, the diagonal as an added matrix
def leave_one_out(x, y, bandwidths):
    hidden = torch.zeros(len(x), len(x), dtype=x.dtype).fill_diagonal_(float("-inf"))
    scores = hidden - 0.5 * ((x[:, None] - x) / bandwidths.view(-1, 1, 1)).pow(2)
    guess = torch.einsum("mij,j->mi", F.softmax(scores, -1), y)
    errors = (guess - y).square().mean(-1)
    return errors, bandwidths.gather(0, errors.argmin(0, keepdim=True)).squeeze(0)

# %% right: the table of the others, (n, n - 1), in place of a mask
def leave_one_out(x, y, bandwidths):
    n = len(x)
    others = torch.arange(n).expand(n, n)[~torch.eye(n, dtype=torch.bool)].view(n, n - 1)
    squared = (x[:, None] - x[others]) ** 2
    errors = torch.stack([
        (((-squared / (2 * h * h)).softmax(-1) * y[others]).sum(-1) - y).pow(2).mean() for h in bandwidths.unbind()
    ])
    return errors, bandwidths[torch.argmin(errors)]

# %% wrong: the bandwidths as Python numbers, so no gradient reaches them
def leave_one_out(x, y, bandwidths):
    hidden = torch.zeros(len(x), len(x), dtype=x.dtype).fill_diagonal_(float("-inf"))
    errors = []
    for h in bandwidths.tolist():
        w = F.softmax(hidden - (x[:, None] - x) ** 2 / (2 * h**2), dim=-1)
        errors.append(F.mse_loss(w @ y, y))
    errors = torch.stack(errors)
    return errors, bandwidths[errors.argmin()]

# %% right: the scores as a dot product of (x, 1) and (x, -x*x/2), one bandwidth at a time
def leave_one_out(x, y, bandwidths):
    asks = torch.stack([x, torch.ones_like(x)], -1)
    offers = torch.stack([x, -x * x / 2], -1)
    itself = torch.eye(len(x), dtype=torch.bool)
    errors = []
    for h in bandwidths:
        s = (asks / h**2 @ offers.T).masked_fill(itself, -torch.inf)
        errors.append((s.softmax(-1) @ y - y).pow(2).mean())
    errors = torch.stack(errors)
    return errors, bandwidths[errors.argmin()]
