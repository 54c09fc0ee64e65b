# %% setup
import torch

# %% wrong: takes a softmax of the given weights once more before pooling
def pool(weights, values):
    return torch.softmax(weights, dim=-1) @ values

# %% wrong: uses different letters for the two batch axes, so the values of all items are added up, right only for B = 1
def pool(weights, values):
    return torch.einsum("bqk,ckv->bqv", weights, values)

# %% wrong: multiplies the weights with the transposed values by broadcasting, which is right only for d_v = 1 and fails or gives wrong numbers otherwise
def pool(weights, values):
    return (weights * values.transpose(1, 2)).sum(dim=-1, keepdim=True)

# %% wrong: takes the mean over the keys instead of the sum, so everything is divided by L_k
def pool(weights, values):
    return (weights.unsqueeze(-1) * values.unsqueeze(1)).mean(dim=2)

# %% wrong: uses the transposed weights, so it sums over the queries; it fails unless L_q equals L_k
def pool(weights, values):
    return weights.transpose(1, 2) @ values

# %% wrong: returns only the value of the key with the largest weight instead of the weighted sum
def pool(weights, values):
    best = weights.argmax(dim=-1)
    return torch.stack([values[b, best[b]] for b in range(values.shape[0])])

# %% two mistakes: takes a softmax of the given weights once more; and returns the axes as (B, d_v, L_q)
def pool(weights, values):
    weights = torch.softmax(weights, dim=-1)
    return torch.einsum("bqk,bkv->bvq", weights, values)

# %% right: goes through the keys and adds each value times its weights
def pool(weights, values):
    total = 0
    for j in range(values.shape[1]):
        total = total + weights[:, :, j, None] * values[:, None, j, :]
    return total

# %% right: broadcasts to four axes and sums over the keys
def pool(weights, values):
    return (weights[..., None] * values[:, None]).sum(dim=-2)

# %% right: pools the transposed values and transposes back
def pool(weights, values):
    return torch.bmm(values.mT, weights.mT).mT
