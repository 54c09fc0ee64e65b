# %% setup
import torch


# %% right: an index with a head's number as often as it is needed
def repeat_kv(x, num_repeats):
    partner = torch.arange(x.shape[1] * num_repeats, device=x.device) // num_repeats
    return x[:, partner]


# %% right: a new axis behind the heads, expanded and folded into them
def repeat_kv(x, num_repeats):
    return x.unsqueeze(2).expand(-1, -1, num_repeats, -1, -1).flatten(1, 2)


# %% wrong: repeat_interleave without an axis, which flattens first
def repeat_kv(x, num_repeats):
    return x.repeat_interleave(num_repeats)


# %% wrong: joins whole copies of the heads behind each other, 1 2 1 2
def repeat_kv(x, num_repeats):
    return torch.cat([x] * num_repeats, dim=1)


# %% wrong: takes the number of repeats for the number of heads that come out
def repeat_kv(x, num_repeats):
    return x.repeat_interleave(max(num_repeats // x.shape[1], 1), dim=1)
