# %% setup
import torch
import torch.nn.functional as F

# %% wrong: the gradient of the plain sum of output i, which cancels where an output ends in a normalization or two entries move by opposite amounts
def sees(attend, x):
    x = x.detach().clone().requires_grad_()
    out = attend(x)
    rows = []
    for i in range(x.shape[1]):
        (g,) = torch.autograd.grad(out[:, i].sum(), x, retain_graph=True)
        rows.append(g.abs().amax(dim=(0, 2)) > 1e-7)
    return torch.stack(rows)

# %% wrong: the table is turned around: row j, column i says that output i depends on input j
def sees(attend, x):
    x = x.detach().clone().requires_grad_()
    out = attend(x)
    factors = torch.randn(out.shape)
    table = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for i in range(x.shape[1]):
        (g,) = torch.autograd.grad((out[:, i] * factors[:, i]).sum(), x, retain_graph=True)
        table[:, i] = g.abs().amax(dim=(0, 2)) > 1e-7
    return table

# %% wrong: adds 1 to each entry of input j and looks which outputs move: invisible to a function that first normalizes its tokens
def sees(attend, x):
    with torch.no_grad():
        before = attend(x)
        columns = []
        for j in range(x.shape[1]):
            y = x.clone()
            y[:, j] += 1.0
            columns.append((attend(y) - before).abs().amax(dim=(0, 2)) > 1e-5)
    return torch.stack(columns, dim=1)

# %% wrong: the gradient is summed over the items and the entries before its size is taken, so that opposite amounts cancel
def sees(attend, x):
    x = x.detach().clone().requires_grad_()
    out = attend(x)
    rows = []
    for i in range(x.shape[1]):
        (g,) = torch.autograd.grad((out[:, i] * torch.randn_like(out[:, i])).sum(), x, retain_graph=True)
        rows.append(g.sum(dim=(0, 2)).abs() > 1e-6)
    return torch.stack(rows)

# %% wrong: only the first item of the batch is looked at
def sees(attend, x):
    def first(y):
        return attend(y)[0]
    J = torch.autograd.functional.jacobian(first, x)  # (L, d, B, L, d)
    return J[:, :, 0].abs().amax(dim=(1, 3)) > 1e-7

# %% wrong: the threshold is 0.01, so that faint looks are missed
def sees(attend, x):
    with torch.no_grad():
        before = attend(x)
        columns = []
        for j in range(x.shape[1]):
            y = x.clone()
            y[:, j] = torch.randn_like(y[:, j])
            columns.append((attend(y) - before).abs().amax(dim=(0, 2)) > 0.01)
    return torch.stack(columns, dim=1)

# %% wrong: changes everything from j on at once, as a test for leaks does, so that column j says whether anything from j on is seen
def sees(attend, x):
    before = attend(x)
    table = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    for t in range(x.shape[1]):
        y = x.clone()
        y[:, t:] = torch.randn_like(y[:, t:])
        table[:, t] = (attend(y) - before).abs().amax(dim=(0, 2)) > 1e-5
    return table

# %% two mistakes: the past is changed up to j and not j alone (every later output moves), and the table is turned around
def sees(attend, x):
    with torch.no_grad():
        before = attend(x)
        rows = []
        for j in range(x.shape[1]):
            y = torch.cat([torch.randn_like(x[:, : j + 1]), x[:, j + 1 :]], dim=1)
            rows.append((attend(y) - before).abs().amax(dim=(0, 2)) > 1e-5)
    return torch.stack(rows)

# %% two mistakes: the mean over the entries of what moves is compared (opposite amounts cancel), and without a threshold, so that rounding counts as a look
def sees(attend, x):
    with torch.no_grad():
        before = attend(x)
        columns = []
        for j in range(x.shape[1]):
            y = x.clone()
            y[:, j] = torch.randn_like(y[:, j])
            columns.append((attend(y) - before).mean(dim=(0, 2)) != 0)
    return torch.stack(columns, dim=1)

# %% right: the whole Jacobian, item by item
def sees(attend, x):
    J = torch.autograd.functional.jacobian(attend, x.detach())  # (B, L, d, B, L, d)
    return J.abs().amax(dim=(0, 2, 3, 5)) > 1e-6

# %% right: by changing one input at a time to fresh random numbers, twice, and keeping what moved in either
def sees(attend, x):
    rng = torch.Generator().manual_seed(1)
    table = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    with torch.no_grad():
        before = attend(x)
        for _ in range(2):
            for j in range(x.shape[1]):
                y = x.clone()
                y[:, j] = torch.randn(x[:, j].shape, generator=rng)
                table[:, j] |= ((attend(y) - before).abs() > 2e-5).any(dim=2).any(dim=0)
    return table

# %% right: one gradient for each entry of each output, without random factors
def sees(attend, x):
    x = x.detach().requires_grad_()
    out = attend(x)
    L, d = x.shape[1:]
    size = torch.zeros(L, L)
    for i in range(L):
        for c in range(d):
            g = torch.autograd.grad(out[:, i, c].sum(), x, retain_graph=True)[0]
            size[i] = torch.maximum(size[i], g.abs().amax(dim=2).amax(dim=0))
    return size > 1e-6
