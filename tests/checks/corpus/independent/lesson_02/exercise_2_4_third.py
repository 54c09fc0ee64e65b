# %% setup
import torch


# %% wrong: where the kernels of a far query are all 0 it hands out equal weights, which sum to 1 but are not the softmax
def kernel_regression(x_query, x_key, y_key, bandwidth):
    kernel = torch.exp(-((x_query[:, None] - x_key) ** 2) / (2 * bandwidth**2))
    total = kernel.sum(dim=1, keepdim=True)
    far = total == 0
    weights = torch.where(far, torch.full_like(kernel, 1 / len(x_key)), kernel / total.masked_fill(far, 1.0))
    return weights @ y_key, weights


# %% wrong: puts the 2 inside the square, so it divides by 4 h^2
def kernel_regression(x_query, x_key, y_key, bandwidth):
    scores = -((x_query[:, None] - x_key[None, :]) ** 2) / (2 * bandwidth) ** 2
    weights = torch.softmax(scores, dim=1)
    return weights @ y_key, weights


# %% wrong: shifts by the maximum of all scores instead of each row's, so a far query still gives 0 / 0
def kernel_regression(x_query, x_key, y_key, bandwidth):
    scores = -((x_query[:, None] - x_key) ** 2) / (2 * bandwidth**2)
    kernel = torch.exp(scores - scores.max())
    weights = kernel / kernel.sum(dim=1, keepdim=True)
    return weights @ y_key, weights


# %% wrong: makes a column of the values, so the prediction has shape (L_q, 1)
def kernel_regression(x_query, x_key, y_key, bandwidth):
    distances = x_query.unsqueeze(1) - x_key.unsqueeze(0)
    weights = torch.softmax(-(distances**2) / (2 * bandwidth**2), dim=-1)
    return weights @ y_key.unsqueeze(1), weights


# %% two mistakes: divides by 2 h instead of 2 h^2; and takes the softmax over the queries
def kernel_regression(x_query, x_key, y_key, bandwidth):
    scores = -((x_query[:, None] - x_key) ** 2) / (2 * bandwidth)
    weights = torch.softmax(scores, dim=0)
    return weights @ y_key, weights


# %% right: takes the log density of normal distributions around the keys as scores
def kernel_regression(x_query, x_key, y_key, bandwidth):
    scores = torch.distributions.Normal(x_key, bandwidth).log_prob(x_query.reshape(-1, 1))
    weights = scores.softmax(dim=1)
    return torch.einsum("qk,k->q", weights, y_key), weights


# %% right: query by query, the exponentials shifted by the distance of the nearest key
def kernel_regression(x_query, x_key, y_key, bandwidth):
    predictions, rows = [], []
    for q in x_query:
        scaled = ((q - x_key) / bandwidth).square() / 2
        kernel = torch.exp(scaled.min() - scaled)
        row = kernel / kernel.sum()
        rows.append(row)
        predictions.append(torch.sum(row * y_key))
    return torch.stack(predictions), torch.stack(rows)
