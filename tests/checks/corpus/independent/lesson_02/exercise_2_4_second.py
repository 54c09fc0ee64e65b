# %% setup
import torch

# %% wrong: the bandwidth is not squared, right only for bandwidth 1
def kernel_regression(x_query, x_key, y_key, bandwidth):
    scores = -(x_query[:, None] - x_key[None, :]) ** 2 / (2 * bandwidth)
    weights = torch.softmax(scores, dim=-1)
    return weights @ y_key, weights

# %% wrong: exponentials are divided by their sum plus 1e-12 without subtracting a maximum, so the weights of a far query are 0 and do not sum to 1
def kernel_regression(x_query, x_key, y_key, bandwidth):
    kernel = torch.exp(-(x_query[:, None] - x_key) ** 2 / (2 * bandwidth ** 2))
    weights = kernel / (kernel.sum(dim=1, keepdim=True) + 1e-12)
    return weights @ y_key, weights

# %% wrong: the prediction keeps a last axis, (L_q, 1) instead of (L_q,)
def kernel_regression(x_query, x_key, y_key, bandwidth):
    scores = -(x_query.unsqueeze(1) - x_key.unsqueeze(0)).square() / (2 * bandwidth ** 2)
    weights = torch.softmax(scores, dim=-1)
    return weights @ y_key.unsqueeze(-1), weights

# %% wrong: the query enters through .item(), so no gradient reaches x_query
def kernel_regression(x_query, x_key, y_key, bandwidth):
    rows = []
    for i in range(len(x_query)):
        q = x_query[i].item()
        rows.append(torch.softmax(-(q - x_key) ** 2 / (2 * bandwidth ** 2), dim=0))
    weights = torch.stack(rows)
    return (weights * y_key).sum(dim=1), weights

# %% two mistakes: the factor 2 below the square is forgotten; and the softmax runs over the queries instead of the keys
def kernel_regression(x_query, x_key, y_key, bandwidth):
    scores = -((x_query[:, None] - x_key[None, :]) / bandwidth) ** 2
    weights = torch.softmax(scores, dim=0)
    return weights @ y_key, weights

# %% right: one query at a time, with the smallest squared distance subtracted by hand
def kernel_regression(x_query, x_key, y_key, bandwidth):
    predictions, rows = [], []
    for q in x_query:
        z = ((q - x_key) / bandwidth) ** 2 / 2
        kernel = torch.exp(z.min() - z)
        row = kernel / kernel.sum()
        rows.append(row)
        predictions.append(torch.dot(row, y_key))
    return torch.stack(predictions), torch.stack(rows)

# %% right: the table is built keys first and transposed, distances by torch.sub on meshgrids
def kernel_regression(x_query, x_key, y_key, bandwidth):
    k, q = torch.meshgrid(x_key, x_query, indexing="ij")
    by_key = torch.softmax(-0.5 * torch.pow(torch.sub(k, q) / bandwidth, 2), dim=0)
    return torch.einsum("kq,k->q", by_key, y_key), by_key.transpose(0, 1)
