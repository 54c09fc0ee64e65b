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

# %% wrong: multiplies the diagonal scores by 0 instead of hiding them; they were 0 before
def leave_one_out(x, y, bandwidths):
    s = -((x[:, None] - x) ** 2) / (2 * bandwidths[:, None, None] ** 2)
    s = s * (1 - torch.eye(len(x), dtype=x.dtype))
    errors = ((torch.softmax(s, -1) @ y - y) ** 2).mean(-1)
    return errors, bandwidths[errors.argmin()]

# %% wrong: hides every pair at distance 0, so that two points with the same x do not see each other
def leave_one_out(x, y, bandwidths):
    d = (x[:, None] - x) ** 2
    s = (-d / (2 * bandwidths[:, None, None] ** 2)).masked_fill(d == 0, float("-inf"))
    errors = ((torch.softmax(s, -1) @ y - y) ** 2).mean(-1)
    return errors, bandwidths[errors.argmin()]

# %% wrong: loops over the points
def leave_one_out(x, y, bandwidths):
    errors = []
    for h in bandwidths:
        found = []
        for j in range(len(x)):
            others = torch.arange(len(x)) != j
            found.append(attention.nadaraya_watson(x[j : j + 1], x[others], y[others], h)[0])
        errors.append(((torch.cat(found) - y) ** 2).mean())
    errors = torch.stack(errors)
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

# %% right: one bandwidth after another, with the library's masked softmax
def leave_one_out(x, y, bandwidths):
    others = ~torch.eye(len(x), dtype=torch.bool)
    errors = []
    for h in bandwidths:
        weights = attention.masked_softmax(-torch.square(x[:, None] - x[None]) / (2 * h * h), others)
        errors.append(torch.mean(torch.square(weights @ y - y)))
    errors = torch.stack(errors)
    return errors, bandwidths[torch.argmin(errors)]

# %% right: takes the diagonal out of the table, so that every row has n - 1 scores and n - 1 values
def leave_one_out(x, y, bandwidths):
    n = len(x)
    other = torch.arange(n - 1)[None] + (torch.arange(n - 1)[None] >= torch.arange(n)[:, None])
    squared = (x[:, None] - x[other]) ** 2
    errors = []
    for h in bandwidths:
        weights = torch.softmax(-0.5 * squared / h**2, dim=1)
        errors.append((((weights * y[other]).sum(1) - y) ** 2).mean())
    smallest, position = torch.stack(errors).min(dim=0)
    return torch.stack(errors), bandwidths[position]

# %% right: adds a table of minus infinity on the diagonal, and sorts the errors
def leave_one_out(x, y, bandwidths):
    wall = torch.zeros(len(x), len(x), dtype=x.dtype).fill_diagonal_(-torch.inf)
    scores = torch.stack([wall - torch.pow((x[None] - x[:, None]) / h, 2) / 2 for h in bandwidths])
    weights = torch.exp(scores - torch.logsumexp(scores, dim=2, keepdim=True))
    residual = torch.einsum("mij,j->mi", weights, y) - y
    errors = residual.pow(2).mean(1)
    return errors, bandwidths[errors.argsort()[0]]

# %% wrong: hides the diagonal by a large number, which a very lonely point undercuts
def leave_one_out(x, y, bandwidths):
    scores = -((x[:, None] - x[None, :]) ** 2) / (2 * bandwidths[:, None, None] ** 2)
    weights = torch.softmax(scores.masked_fill(torch.eye(len(x)).bool(), -1e5), dim=-1)
    errors = ((weights @ y - y) ** 2).mean(dim=-1)
    return errors, bandwidths[errors.argmin()]
