# %% setup
import torch
from course_utils.masks import causal_mask


# %% wrong: stacks the copies behind the axis of positions and reshapes, so each position is repeated in a row and heads are cut in the wrong places; right for heads that hold one number
def repeat_kv(x, num_repeats):
    B, H_kv, L, d_head = x.shape
    copies = torch.stack([x] * num_repeats, dim=3)  # (B, H_kv, L, num_repeats, d_head)
    return copies.reshape(B, H_kv * num_repeats, L, d_head)


# %% wrong: fills a new float32 tensor of zeros, so a float64 input comes back as float32
def repeat_kv(x, num_repeats):
    B, H_kv, L, d_head = x.shape
    out = torch.zeros(B, H_kv * num_repeats, L, d_head)
    for h in range(H_kv * num_repeats):
        out[:, h] = x[:, h // num_repeats]
    return out


# %% wrong: the first copy of each head is the head itself, the other copies are detached clones, so the gradient is too small by a factor num_repeats
def repeat_kv(x, num_repeats):
    heads = []
    for head in x.unbind(dim=1):
        heads.append(head)
        for _ in range(num_repeats - 1):
            heads.append(head.clone().detach())
    return torch.stack(heads, dim=1)


# %% wrong: tiles the heads (1 2 1 2) and then sorts the numbers along the head axis, which gives 1 1 2 2 only where the numbers of the heads are in ascending order already
def repeat_kv(x, num_repeats):
    tiled = x.repeat(1, num_repeats, 1, 1)
    return tiled.sort(dim=1).values


# %% wrong: Kronecker product with ones; PyTorch's kron stops on an x that comes from a transpose, as split heads do
def repeat_kv(x, num_repeats):
    return torch.kron(x, x.new_ones(1, num_repeats, 1, 1))


# %% right: gathers along the head axis with floor-divided indices by take_along_dim
def repeat_kv(x, num_repeats):
    partner = torch.div(torch.arange(x.shape[1] * num_repeats), num_repeats, rounding_mode="floor")
    return torch.take_along_dim(x, partner.view(1, -1, 1, 1), dim=1)
