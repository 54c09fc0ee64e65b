# %% setup
import torch

# %% wrong: forgets to cut the parabola off, so far keys get negative weights
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query.unsqueeze(1) - x_key
    g = 1 - u**2 / bandwidth**2
    w = g / g.sum(1, keepdim=True)
    return w @ y_key, w

# %% wrong: a query that reaches no key gets NaN, because its kernel sums to 0
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key[None]
    g = torch.clamp(1 - (u / bandwidth) ** 2, min=0.0)
    w = g / g.sum(dim=1, keepdim=True)
    return w @ y_key, w

# %% wrong: adds a tiny number to the sum, so a query that reaches no key gets no weight and predicts 0
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = (x_query[:, None] - x_key[None]) / bandwidth
    g = torch.relu(1 - u * u)
    w = g / (g.sum(dim=1, keepdim=True) + 1e-12)
    return w @ y_key, w

# %% wrong: takes the nearest key with argmin, so of two equally near keys only the first counts
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = (x_query[:, None] - x_key[None]).abs()
    g = torch.relu(1 - (u / bandwidth) ** 2)
    lost = g.sum(1) == 0
    g = g.clone()
    g[lost, u.argmin(1)[lost]] = 1.0
    w = g / g.sum(1, keepdim=True)
    return w @ y_key, w

# %% wrong: a triangle in place of the parabola: the distance over the bandwidth is not squared
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = (x_query[:, None] - x_key[None]).abs()
    g = (1 - u / bandwidth).clamp(min=0)
    near = (u == u.min(1, keepdim=True).values).to(u.dtype)
    g = torch.where(g.sum(1, keepdim=True) > 0, g, near)
    w = g / g.sum(1, keepdim=True)
    return w @ y_key, w

# %% wrong: puts the kernel through a softmax, so that keys beyond the edge get weight as well
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = (x_query[:, None] - x_key[None]).abs()
    g = (1 - (u / bandwidth) ** 2).clamp(min=0)
    near = (u == u.min(1, keepdim=True).values).to(u.dtype)
    g = torch.where(g.sum(1, keepdim=True) > 0, g, near)
    w = torch.softmax(g, dim=1)
    return w @ y_key, w

# %% wrong: decides for the whole table whether anything is in reach, so a single far query stays NaN
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = (x_query[:, None] - x_key[None]).abs()
    g = (1 - (u / bandwidth) ** 2).clamp(min=0)
    if g.sum() == 0:
        g = (u == u.min(1, keepdim=True).values).to(u.dtype)
    w = g / g.sum(1, keepdim=True)
    return w @ y_key, w

# %% two mistakes: does not square the bandwidth, and a query that reaches no key gets NaN
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key[None]
    g = (1 - u**2 / bandwidth).clamp(min=0)
    w = g / g.sum(1, keepdim=True)
    return w @ y_key, w

# %% two mistakes: a triangle in place of the parabola, and rows that reach no key weigh all keys alike
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = (x_query[:, None] - x_key[None]).abs()
    g = (1 - u / bandwidth).clamp(min=0)
    g = torch.where(g.sum(1, keepdim=True) > 0, g, torch.ones_like(g))
    w = g / g.sum(1, keepdim=True)
    return w @ y_key, w

# %% right: query by query in a loop
def edge_regression(x_query, x_key, y_key, bandwidth):
    rows = []
    for q in x_query:
        u = torch.abs(q - x_key)
        g = torch.relu(1 - u.pow(2) / bandwidth**2)
        if not bool((g > 0).any()):
            g = torch.eq(u, u.min()).type_as(u)
        rows.append(g / g.sum())
    weights = torch.stack(rows)
    return torch.mv(weights, y_key), weights

# %% right: as attention, scores are the logarithm of the kernel, and a far row gets scores of its own
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = torch.cdist(x_query[:, None], x_key[:, None])
    inside = u < bandwidth
    nothing = ~inside.any(dim=1, keepdim=True)
    safe = torch.where(inside, 1 - (u / bandwidth) ** 2, torch.ones_like(u))
    scores = safe.log().masked_fill(~inside, float("-inf"))
    nearest = torch.zeros_like(u).masked_fill(u > u.amin(1, keepdim=True), float("-inf"))
    weights = torch.softmax(torch.where(nothing, nearest, scores), dim=1)
    return weights @ y_key, weights

# %% right: multiplies the parabola by a mask instead of clamping, and adds the nearest keys where a row is empty
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query.reshape(-1, 1) - x_key.reshape(1, -1)
    kernel = (1 - u.square() / bandwidth**2) * (u.abs() < bandwidth)
    empty = (kernel.sum(1, keepdim=True) <= 0).to(u.dtype)
    smallest = u.abs().min(dim=1, keepdim=True)[0]
    kernel = kernel + empty * (u.abs() == smallest)
    weights = torch.nn.functional.normalize(kernel, p=1, dim=1)
    return torch.einsum("ij,j->i", weights, y_key), weights
