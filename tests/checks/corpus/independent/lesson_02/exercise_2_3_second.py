# %% setup
import torch

# %% wrong: the given weights are put through a softmax once more before they are used
def pool(weights, values):
    return torch.softmax(weights, dim=-1) @ values

# %% wrong: the result is squeezed, so axes of size 1 (such as d_v = 1 or B = 1) are lost
def pool(weights, values):
    return torch.bmm(weights, values).squeeze()

# %% wrong: the weights are detached as given numbers, so no gradient reaches them
def pool(weights, values):
    return torch.einsum("bqk,bkv->bqv", weights.detach(), values)

# %% wrong: returns only the value with the largest weight for each query instead of the weighted sum
def pool(weights, values):
    best = weights.argmax(dim=-1, keepdim=True)
    return values.gather(1, best.expand(-1, -1, values.shape[-1]))

# %% right: broadcasting to (B, L_q, L_k, d_v) and a sum over the keys
def pool(weights, values):
    return (weights[..., None] * values[:, None]).sum(dim=2)

# %% right: a loop over the keys that adds up one outer product a key
def pool(weights, values):
    total = 0
    for j in range(values.shape[1]):
        total = total + weights[:, :, j].unsqueeze(-1) * values[:, j].unsqueeze(1)
    return total
