# %% setup
import torch

# %% wrong: mixes rightly, then reshapes (B, H, n, d) straight to (B, n, H * d), which scrambles positions and heads
def mix_heads(weights, values):
    out = torch.einsum("bhnm,bhmd->bhnd", weights, values)
    B, H, n, d = out.shape
    return out.reshape(B, n, H * d)

# %% wrong: the heads are averaged and not laid side by side
def mix_heads(weights, values):
    return torch.einsum("bhnm,bhmd->bhnd", weights, values).mean(dim=1)

# %% wrong: leaves (B, n, H, d) as it is, one axis too many
def mix_heads(weights, values):
    return torch.einsum("bhnm,bhmd->bnhd", weights, values)

# %% wrong: normalizes the weights first, so that a row of them sums to 1
def mix_heads(weights, values):
    weights = weights / weights.sum(-1, keepdim=True)
    return torch.einsum("bhnm,bhmd->bnhd", weights, values).flatten(2)

# %% wrong: a matrix product, which is off limits
def mix_heads(weights, values):
    return (weights @ values).transpose(1, 2).flatten(2)

# %% two mistakes: a mean over the positions in place of the sum; and the heads are merged before they stand beside each other
def mix_heads(weights, values):
    out = (weights[..., None] * values[:, :, None]).mean(dim=3)
    return out.reshape(len(weights), weights.shape[2], -1)

# %% wrong: features first, then heads: the numbers of the heads are interleaved
def mix_heads(weights, values):
    out = torch.einsum("bhnm,bhmd->bndh", weights, values)
    return out.reshape(out.shape[0], out.shape[1], -1)

# %% right: no einsum, a sum over products that broadcast, one head after the other
def mix_heads(weights, values):
    found = [(weights[:, h, :, :, None] * values[:, h, None]).sum(2) for h in range(weights.shape[1])]
    return torch.cat(found, dim=-1)

# %% right: writes each head into its place of a new tensor
def mix_heads(weights, values):
    B, H, n, _ = weights.shape
    d = values.shape[-1]
    out = values.new_empty(B, n, H * d)
    for h in range(H):
        out[..., h * d : (h + 1) * d] = torch.einsum("bij,bjd->bid", weights[:, h], values[:, h])
    return out
