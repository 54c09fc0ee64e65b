# %% setup
import torch

# %% wrong: the heads are not flattened
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bli,oi->blo", query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.einsum("bli,oi->blo", memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.einsum("bli,oi->blo", memory, W_v).unflatten(-1, (num_heads, -1))
    weights = (torch.einsum("bihd,bjhd->bijh", q, k) / q.shape[-1] ** 0.5).softmax(dim=2)
    return torch.einsum("bijh,bjhd->bihd", weights, v), weights
