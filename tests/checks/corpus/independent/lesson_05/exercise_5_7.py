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

# %% wrong: rows and columns exchanged
def sees(attend, x):
    torch.manual_seed(0)
    before = attend(x)
    rows = []
    for j in range(x.shape[1]):
        other = x.clone()
        other[:, j] = torch.randn_like(x[:, j])
        rows.append((attend(other) - before).abs().amax(-1).amax(0) > 1e-5)
    return torch.stack(rows)

# %% wrong: compares exactly, so that rounding counts as seeing
def sees(attend, x):
    torch.manual_seed(0)
    before = attend(x)
    columns = []
    for j in range(x.shape[1]):
        other = x.clone()
        other[:, j] = torch.randn_like(x[:, j])
        columns.append((attend(other) != before).any(-1).any(0))
    return torch.stack(columns, dim=1)

# %% wrong: looks at the first item of the batch only
def sees(attend, x):
    torch.manual_seed(0)
    x = x.clone().requires_grad_()
    out = attend(x)[0]
    rows = []
    for i in range(x.shape[1]):
        g = torch.autograd.grad((out[i] * torch.randn_like(out[i])).sum(), x, retain_graph=True)[0]
        rows.append(g[0].abs().sum(-1) > 1e-6)
    return torch.stack(rows)

# %% two mistakes: the first item only; and faint ones are taken for nothing
def sees(attend, x):
    torch.manual_seed(0)
    x = x.clone().requires_grad_()
    out = attend(x)
    rows = []
    for i in range(x.shape[1]):
        g = torch.autograd.grad((out[0, i] * torch.randn_like(out[0, i])).sum(), x, retain_graph=True)[0]
        rows.append(g[0].abs().amax(-1) > 0.01)
    return torch.stack(rows)

# %% two mistakes: entries are added up; and the table is transposed
def sees(attend, x):
    x = x.clone().requires_grad_()
    out = attend(x)
    columns = []
    for i in range(x.shape[1]):
        g = torch.autograd.grad(out[:, i].sum(), x, retain_graph=True)[0]
        columns.append(g.abs().amax((0, 2)) > 1e-6)
    return torch.stack(columns, dim=1)

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

# %% right: one gradient for each output entry, none added up
def sees(attend, x):
    x = x.clone().requires_grad_()
    out = attend(x)
    table = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for i in range(x.shape[1]):
        for f in range(x.shape[2]):
            for b in range(x.shape[0]):
                (g,) = torch.autograd.grad(out[b, i, f], x, retain_graph=True)
                table[i] |= (g.abs() > 1e-9).any(-1).any(0)
    return table
