# %% setup
import torch

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

# %% wrong: random factors, but every gradient that is not exactly 0 counts as seen, rounding too
def sees(attend, x):
    torch.manual_seed(0)
    x = x.clone().requires_grad_()
    out = attend(x)
    rows = []
    for i in range(x.shape[1]):
        (g,) = torch.autograd.grad((out[:, i] * torch.randn_like(out[:, i])).sum(), x, retain_graph=True)
        rows.append((g != 0).any(-1).any(0))
    return torch.stack(rows)

# %% wrong: asks for gradients on the x that it was given, which is not left as it is
def sees(attend, x):
    torch.manual_seed(0)
    x.requires_grad_()
    out = attend(x)
    rows = []
    for i in range(x.shape[1]):
        (g,) = torch.autograd.grad((out[:, i] * torch.randn_like(out[:, i])).sum(), x, retain_graph=True)
        rows.append(g.abs().amax(dim=(0, 2)) > 1e-7)
    return torch.stack(rows)

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

# %% wrong: calls backward for one output after the other without clearing the gradient, so row i also holds what the rows above it see
def sees(attend, x):
    torch.manual_seed(0)
    y = x.clone().requires_grad_()
    out = attend(y)
    rows = []
    for i in range(x.shape[1]):
        (out[:, i] * torch.randn_like(out[:, i])).sum().backward(retain_graph=True)
        rows.append(y.grad.abs().amax(dim=(0, 2)) > 1e-7)
    return torch.stack(rows)
