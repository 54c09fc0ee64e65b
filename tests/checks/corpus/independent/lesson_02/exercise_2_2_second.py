# %% setup
import torch

# %% wrong: divides first, repairs the 0/0 afterwards with torch.where, and cuts the kernel by a product with 0: the values are right, the gradients NaN
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key[None, :]
    G = (1 - (u / bandwidth) ** 2) * (u.abs() < bandwidth)
    total = G.sum(dim=1, keepdim=True)
    distance = u.abs()
    nearest = (distance == distance.min(dim=1, keepdim=True).values).to(G.dtype)
    nearest = nearest / nearest.sum(dim=1, keepdim=True)
    weights = torch.where(total > 0, G / total, nearest)
    return weights @ y_key, weights

# %% wrong: asks whether the nearest key is farther than h, so a nearest key at exactly h gives 0 / 0
def edge_regression(x_query, x_key, y_key, bandwidth):
    distance = (x_query[:, None] - x_key).abs()
    G = (1 - distance**2 / bandwidth**2).clamp(min=0)
    closest = distance.min(dim=1, keepdim=True).values
    G = torch.where(closest > bandwidth, (distance == closest).to(G.dtype), G)
    weights = G / G.sum(dim=1, keepdim=True)
    return weights @ y_key, weights

# %% wrong: the fallback gives every key the same weight in place of the nearest one
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key
    G = torch.relu(1 - u**2 / bandwidth**2)
    G = torch.where(G.sum(dim=1, keepdim=True) == 0, torch.ones_like(G), G)
    weights = G / G.sum(dim=1, keepdim=True)
    return weights @ y_key, weights

# %% wrong: a small epsilon in the denominator, so a query far out gets the weights 0 and the prediction 0
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key
    G = torch.relu(1 - u**2 / bandwidth**2)
    weights = G / (G.sum(dim=1, keepdim=True) + 1e-12)
    return weights @ y_key, weights

# %% wrong: forgets the square, so the kernel is a triangle
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = (x_query[:, None] - x_key).abs()
    G = torch.relu(1 - u / bandwidth)
    near = (u == u.min(dim=1, keepdim=True).values).to(G.dtype)
    G = torch.where(G.sum(dim=1, keepdim=True) > 0, G, near)
    weights = G / G.sum(dim=1, keepdim=True)
    return weights @ y_key, weights

# %% wrong: looks for empty rows in the whole table (if any row is empty, every row gets its nearest key)
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = (x_query[:, None] - x_key).abs()
    G = torch.relu(1 - u**2 / bandwidth**2)
    if (G.sum(dim=1) == 0).any():
        G = (u == u.min(dim=1, keepdim=True).values).to(G.dtype)
    weights = G / G.sum(dim=1, keepdim=True)
    return weights @ y_key, weights

# %% wrong: takes the signed distance for the nearest key, so the key farthest to the right wins in the fallback
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key
    G = torch.relu(1 - u**2 / bandwidth**2)
    near = (u == u.min(dim=1, keepdim=True).values).to(G.dtype)
    G = torch.where(G.sum(dim=1, keepdim=True) > 0, G, near)
    weights = G / G.sum(dim=1, keepdim=True)
    return weights @ y_key, weights

# %% two mistakes: divides by twice the square of h as the Gaussian does; and argmin, so the first of several nearest keys takes all
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key
    G = torch.relu(1 - u**2 / (2 * bandwidth**2))
    first = torch.nn.functional.one_hot(u.abs().argmin(dim=1), len(x_key)).to(G.dtype)
    G = torch.where(G.sum(dim=1, keepdim=True) > 0, G, first)
    weights = G / G.sum(dim=1, keepdim=True)
    return weights @ y_key, weights

# %% two mistakes: the square of h is missing; and the rows without a key stay NaN
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key
    G = torch.clamp(1 - u**2 / bandwidth, min=0)
    weights = G / G.sum(dim=1, keepdim=True)
    return weights @ y_key, weights

# %% right: one query at a time
def edge_regression(x_query, x_key, y_key, bandwidth):
    rows = []
    for q in x_query:
        u = (q - x_key).abs()
        row = (1 - u * u / bandwidth**2).clamp(min=0)
        if row.sum() == 0:
            row = (u == u.min()).to(row)
        rows.append(row / row.sum())
    weights = torch.stack(rows)
    return (weights * y_key).sum(-1), weights

# %% right: adds the table of nearest keys only to the empty rows, by multiplication
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = torch.abs(x_key - x_query.unsqueeze(-1))
    G = torch.maximum(torch.zeros_like(u), (bandwidth - u) * (bandwidth + u))
    empty = (G.amax(-1, keepdim=True) == 0).to(G.dtype)
    G = G + empty * torch.isclose(u, u.amin(-1, keepdim=True)).to(G.dtype)
    weights = torch.nn.functional.normalize(G, p=1, dim=-1)
    return weights.matmul(y_key), weights

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

# %% right: divides first and repairs the 0/0 afterwards with torch.where (clamp keeps the NaN out of the gradients)
def edge_regression(x_query, x_key, y_key, bandwidth):
    u = x_query[:, None] - x_key[None, :]
    G = torch.clamp(1 - (u / bandwidth) ** 2, min=0)
    total = G.sum(dim=1, keepdim=True)
    distance = u.abs()
    nearest = (distance == distance.min(dim=1, keepdim=True).values).to(G.dtype)
    nearest = nearest / nearest.sum(dim=1, keepdim=True)
    weights = torch.where(total > 0, G / total, nearest)
    return weights @ y_key, weights
