# %% setup
import torch

# %% wrong: divides plain exponentials by their sum, so a query far away from every key has 0 / 0 and gets NaN
def kernel_regression(x_query, x_key, y_key, bandwidth):
    kernel = torch.exp(-((x_query[:, None] - x_key[None, :]) ** 2) / (2 * bandwidth**2))
    weights = kernel / kernel.sum(dim=1, keepdim=True)
    return weights @ y_key, weights

# %% wrong: adds 1e-12 to the sum of the exponentials, so the weights of a query far away from every key are all 0 and do not sum to 1
def kernel_regression(x_query, x_key, y_key, bandwidth):
    kernel = torch.exp(-((x_query[:, None] - x_key[None, :]) ** 2) / (2 * bandwidth**2))
    weights = kernel / (kernel.sum(dim=1, keepdim=True) + 1e-12)
    return weights @ y_key, weights

# %% wrong: divides by twice the bandwidth instead of twice its square, right only for a bandwidth of 1
def kernel_regression(x_query, x_key, y_key, bandwidth):
    scores = -((x_query[:, None] - x_key) ** 2) / (2 * bandwidth)
    weights = torch.softmax(scores, dim=-1)
    return weights @ y_key, weights

# %% wrong: gives a query whose exponentials are all 0 the same weight on every key, though the nearest key should have the most
def kernel_regression(x_query, x_key, y_key, bandwidth):
    kernel = torch.exp(-((x_query[:, None] - x_key[None, :]) ** 2) / (2 * bandwidth**2))
    total = kernel.sum(dim=1, keepdim=True)
    uniform = torch.full_like(kernel, 1 / len(x_key))
    weights = torch.where(total > 0, kernel / total, uniform)
    return weights @ y_key, weights

# %% wrong: takes the softmax over the queries (dim=0) instead of over the keys
def kernel_regression(x_query, x_key, y_key, bandwidth):
    scores = -((x_query[:, None] - x_key[None, :]) ** 2) / (2 * bandwidth**2)
    weights = torch.softmax(scores, dim=0)
    return weights @ y_key, weights

# %% wrong: returns the prediction with shape (L_q, 1) instead of (L_q,)
def kernel_regression(x_query, x_key, y_key, bandwidth):
    diff = x_query.unsqueeze(1) - x_key.unsqueeze(0)
    weights = torch.softmax(-0.5 * (diff / bandwidth) ** 2, dim=1)
    return weights @ y_key.unsqueeze(1), weights

# %% two mistakes: forgets the factor 2 in the denominator; and returns the weights first and the prediction second
def kernel_regression(x_query, x_key, y_key, bandwidth):
    diff = x_query.unsqueeze(1) - x_key.unsqueeze(0)
    weights = torch.softmax(-((diff / bandwidth) ** 2), dim=1)
    return weights, weights @ y_key

# %% right: uses softmin of the scaled squared distance
def kernel_regression(x_query, x_key, y_key, bandwidth):
    z = torch.sub(x_query.view(-1, 1), x_key.view(1, -1)) / bandwidth
    weights = torch.nn.functional.softmin(z * z / 2, dim=1)
    return (weights * y_key).sum(dim=1), weights

# %% right: loops over the queries and subtracts the smallest exponent by hand
def kernel_regression(x_query, x_key, y_key, bandwidth):
    predictions, rows = [], []
    for q in x_query:
        energy = ((q - x_key) / bandwidth).square() * 0.5
        kernel = torch.exp(energy.min() - energy)
        row = kernel / kernel.sum()
        rows.append(row)
        predictions.append(torch.dot(row, y_key))
    return torch.stack(predictions), torch.stack(rows)

# %% right: takes the scores from the log density of a normal distribution around each key, whose constants cancel
def kernel_regression(x_query, x_key, y_key, bandwidth):
    normal = torch.distributions.Normal(x_key, bandwidth)
    weights = normal.log_prob(x_query[:, None]).softmax(dim=-1)
    return torch.mv(weights, y_key), weights
