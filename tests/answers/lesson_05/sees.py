# %% setup
import torch

# %% wrong: takes the gradient of the sum of an output's entries, in which opposite changes cancel
def sees(attend, x):
    x = x.clone().requires_grad_(True)
    out = attend(x)
    table = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for i in range(x.shape[1]):
        g = torch.autograd.grad(out[:, i].sum(), x, retain_graph=True)[0]
        table[i] = (g.abs() > 1e-6).any(-1).any(0)
    return table

# %% wrong: takes the gradient of the squared length of an output, which a normalization keeps
def sees(attend, x):
    x = x.clone().requires_grad_(True)
    out = attend(x)
    rows = []
    for i in range(x.shape[1]):
        g = torch.autograd.grad((out[:, i] ** 2).sum(), x, retain_graph=True)[0]
        rows.append(g.norm(dim=-1).amax(0) > 1e-5)
    return torch.stack(rows)

# %% wrong: changes each input by the same number in every entry, which functions that normalize first don't notice
def sees(attend, x):
    before = attend(x)
    table = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for j in range(x.shape[1]):
        other = x.clone()
        other[:, j] += 2.0
        table[:, j] = ((attend(other) - before).abs() > 1e-5).any(-1).any(0)
    return table

# %% two mistakes: entries are added up; and the table is transposed
def sees(attend, x):
    x = x.clone().requires_grad_()
    out = attend(x)
    columns = []
    for i in range(x.shape[1]):
        g = torch.autograd.grad(out[:, i].sum(), x, retain_graph=True)[0]
        columns.append(g.abs().amax((0, 2)) > 1e-6)
    return torch.stack(columns, dim=1)

# %% wrong: takes the gradient of an output's length, and anything but exactly 0 counts as seen; behind a normalization it sees rounding only
def sees(attend, x):
    x = x.clone().requires_grad_()
    out = attend(x)
    t = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for i in range(x.shape[1]):
        (g,) = torch.autograd.grad(out[:, i].norm(), x, retain_graph=True)
        t[i] = (g != 0).any(-1).any(0)
    return t

# %% wrong: takes the gradient of an output's squared length, and anything but exactly 0 counts as seen
def sees(attend, x):
    x = x.clone().requires_grad_()
    out = attend(x)
    t = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for i in range(x.shape[1]):
        (g,) = torch.autograd.grad(out[:, i].square().sum(), x, retain_graph=True)
        t[i] = (g != 0).any(-1).any(0)
    return t

# %% wrong: changes x itself in place (z = x copies nothing), so every output before and after is that of the changed x
def sees(attend, x):
    before = attend(x)
    columns = []
    for j in range(x.shape[1]):
        z = x
        z[:, j] += 1.0
        columns.append((attend(z) - before).abs().amax(dim=(0, 2)) > 1e-5)
    return torch.stack(columns, dim=1)

# %% wrong: puts random tokens into x itself, in place, one after the other, so that column j also holds what earlier changes moved
def sees(attend, x):
    torch.manual_seed(0)
    before = attend(x)
    table = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for j in range(x.shape[1]):
        x[:, j] = torch.randn_like(x[:, j])
        table[:, j] = (attend(x) - before).abs().amax(dim=(0, 2)) > 1e-5
    return table

# %% wrong: threshold 1e-3, above what sees faintly
def sees(attend, x):
    x = x.clone().requires_grad_()
    y = attend(x)
    factors = torch.randn(y.shape, generator=torch.Generator().manual_seed(0)).to(y.dtype)
    rows = [torch.autograd.grad((y * factors)[:, i].sum(), x, retain_graph=True)[0] for i in range(x.shape[1])]
    return torch.stack([row.abs().amax((0, 2)) for row in rows]) > 1e-3

# %% right: the whole Jacobian, entry by entry
def sees(attend, x):
    jacobian = torch.autograd.functional.jacobian(attend, x)
    return jacobian.abs().amax(dim=(0, 2, 3, 5)) > 1e-6

# %% right: other tokens in one place after the other, three times, and the largest change
def sees(attend, x):
    rng = torch.Generator().manual_seed(5)
    before = attend(x)
    moved = torch.zeros(x.shape[1], x.shape[1], dtype=x.dtype)
    for _ in range(3):
        for j in range(x.shape[1]):
            other = x.clone()
            other[:, j] = torch.randn(x[:, j].shape, generator=rng, dtype=x.dtype)
            moved[:, j] = torch.maximum(moved[:, j], (attend(other) - before).abs().amax((0, 2)))
    return moved > 1e-5

# %% right: every entry of the Jacobian, no factors at all
def sees(attend, x):
    B, L, d = x.shape
    jacobian = torch.autograd.functional.jacobian(attend, x)  # (B, L, d, B, L, d)
    return jacobian.abs().amax(dim=(0, 2, 3, 5)) > 1e-8

# %% setup
import torch
import torch.nn.functional as F

# %% wrong: only the first item of the batch is looked at
def sees(attend, x):
    def first(y):
        return attend(y)[0]
    J = torch.autograd.functional.jacobian(first, x)  # (L, d, B, L, d)
    return J[:, :, 0].abs().amax(dim=(1, 3)) > 1e-7

# %% wrong: the gradient of the plain sum of output i, which cancels where an output ends in a normalization or two entries move by opposite amounts
def sees(attend, x):
    x = x.detach().clone().requires_grad_()
    out = attend(x)
    rows = []
    for i in range(x.shape[1]):
        (g,) = torch.autograd.grad(out[:, i].sum(), x, retain_graph=True)
        rows.append(g.abs().amax(dim=(0, 2)) > 1e-7)
    return torch.stack(rows)

# %% wrong: changes everything from j on at once, as a test for leaks does, so that column j says whether anything from j on is seen
def sees(attend, x):
    before = attend(x)
    table = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for t in range(x.shape[1]):
        y = x.clone()
        y[:, t:] = torch.randn_like(y[:, t:])
        table[:, t] = (attend(y) - before).abs().amax(dim=(0, 2)) > 1e-5
    return table
