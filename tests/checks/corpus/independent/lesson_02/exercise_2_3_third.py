# %% setup
import torch


# %% wrong: detaches the weights because somebody else has computed them, so no gradient flows to them
def pool(weights, values):
    return weights.detach() @ values


# %% wrong: multiplies the transposed factors and reshapes (B, d_v, L_q) to (B, L_q, d_v), which scrambles unless one of the two is 1
def pool(weights, values):
    mixed = values.transpose(1, 2) @ weights.transpose(1, 2)
    return mixed.reshape(weights.shape[0], weights.shape[1], values.shape[2])


# %% wrong: takes a softmax of the given weights once more, which makes them more equal
def pool(weights, values):
    return torch.softmax(weights, dim=-1) @ values


# %% wrong: divides the weights by their sums over the queries to be sure that they sum to 1
def pool(weights, values):
    weights = weights / weights.sum(dim=1, keepdim=True)
    return torch.einsum("bij,bje->bie", weights, values)


# %% right: adds up key by key, the column of weights times the row of values
def pool(weights, values):
    total = 0
    for j in range(values.shape[1]):
        total = total + weights[:, :, j, None] * values[:, None, j, :]
    return total


# %% right: scales copies of the values by broadcasting to (B, L_q, L_k, d_v) and sums over the keys
def pool(weights, values):
    return weights.unsqueeze(-1).mul(values.unsqueeze(1)).sum(dim=2)
