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

# %% two mistakes: does not square the bandwidth, and a query that reaches no key gets NaN
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key[None]
    g = (1 - u**2 / bandwidth).clamp(min=0)
    w = g / g.sum(1, keepdim=True)
    return w @ y_key, w

# %% wrong: the fallback gives every key the same weight in place of the nearest one
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key
    G = torch.relu(1 - u**2 / bandwidth**2)
    G = torch.where(G.sum(dim=1, keepdim=True) == 0, torch.ones_like(G), G)
    weights = G / G.sum(dim=1, keepdim=True)
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

# %% right: a softmax of the logarithm, with 0 and minus infinity in the rows that have no key
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = torch.cdist(x_query[:, None], x_key[:, None], p=1)
    inside = u < bandwidth
    safe = torch.where(inside, 1 - u**2 / bandwidth**2, 1.0)
    scores = torch.where(inside, safe.log(), -torch.inf)
    near = torch.where(u == u.amin(dim=1, keepdim=True), 0.0, -torch.inf).to(u.dtype)
    scores = torch.where(inside.any(dim=1, keepdim=True), scores, near)
    weights = scores.softmax(dim=1)
    return weights @ y_key, weights

# %% right: the kernel plus the table of nearest keys times "this row is empty"
def edge_regression(x_query, x_key, y_key, bandwidth):
    size = torch.sub(x_query.unsqueeze(1), x_key.unsqueeze(0)).abs()
    g = torch.relu(1 - (size / bandwidth).square())
    empty = g.eq(0).all(dim=1, keepdim=True)
    g = g + (size.eq(size.amin(dim=1, keepdim=True)) & empty).to(g.dtype)
    w = g / g.sum(dim=1, keepdim=True)
    return torch.einsum("qk,k->q", w, y_key), w
