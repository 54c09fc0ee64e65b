# %% setup
import torch
import torch.nn.functional as F
from course_utils.linear_attention import feature_map

# %% wrong: as given
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()
        above = table @ value[:, here] + q[:, here] @ state
        outputs.append(above / table.sum(dim=-1, keepdim=True))
        state = state + k[:, here].mT @ value[:, here]
    return torch.cat(outputs, dim=1)

# %% wrong: all in one table
def mean_in_chunks(query, key, value, chunk_size):
    table = (feature_map(query) @ feature_map(key).mT).tril()
    return table @ value / table.sum(-1, keepdim=True)

# %% wrong: adds the last row's sum of the chunk before
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    state, carried = 0.0, 0.0
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()
        above = table @ value[:, here] + (q[:, here] @ state if start else 0)
        below = table.sum(dim=-1, keepdim=True) + carried
        outputs.append(above / below)
        state = state + k[:, here].mT @ value[:, here]
        carried = below[:, -1:]
    return torch.cat(outputs, dim=1)

# %% wrong: divides by the sum of the whole row's absolute outputs
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()
        below = table.sum(dim=-1, keepdim=True)
        outputs.append(table @ value[:, here] / below + q[:, here] @ state)
        state = state + k[:, here].mT @ value[:, here]
    return torch.cat(outputs, dim=1)

# %% right: a column of ones beside the values
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    v = F.pad(value, (0, 1), value=1.0)
    state = q.new_zeros(len(q), q.shape[-1], v.shape[-1])
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        both = (q[:, here] @ k[:, here].mT).tril() @ v[:, here] + q[:, here] @ state
        outputs.append(both[..., :-1] / both[..., -1:])
        state = state + k[:, here].mT @ v[:, here]
    return torch.cat(outputs, dim=1)


# %% setup
import torch
import torch.nn.functional as F
from course_utils.linear_attention import feature_map
import math

# %% wrong: the query's read of the state is added below, right only for values 1
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()
        past = q[:, here] @ state
        above = table @ value[:, here] + past
        below = table.sum(dim=-1, keepdim=True) + past.mean(dim=-1, keepdim=True)
        outputs.append(above / below)
        state = state + k[:, here].mT @ value[:, here]
    return torch.cat(outputs, dim=1)
# %% wrong: the normalizer holds the latest chunk only
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])
    normalizer = q.new_zeros(len(q), q.shape[-1], 1)
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()
        above = table @ value[:, here] + q[:, here] @ state
        below = table.sum(dim=-1, keepdim=True) + q[:, here] @ normalizer
        outputs.append(above / below)
        state = state + k[:, here].mT @ value[:, here]
        normalizer = k[:, here].sum(dim=1)[:, :, None]
    return torch.cat(outputs, dim=1)
# %% wrong: the normalizer gets the chunk's keys before it is read, so they count twice
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])
    normalizer = q.new_zeros(len(q), q.shape[-1], 1)
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        normalizer = normalizer + k[:, here].sum(dim=1)[:, :, None]
        table = (q[:, here] @ k[:, here].mT).tril()
        above = table @ value[:, here] + q[:, here] @ state
        below = table.sum(dim=-1, keepdim=True) + q[:, here] @ normalizer
        outputs.append(above / below)
        state = state + k[:, here].mT @ value[:, here]
    return torch.cat(outputs, dim=1)
# %% wrong: below, the sum of the keys without the query
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])
    normalizer = q.new_zeros(len(q), q.shape[-1], 1)
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()
        above = table @ value[:, here] + q[:, here] @ state
        below = table.sum(dim=-1, keepdim=True) + normalizer.sum(dim=1, keepdim=True)
        outputs.append(above / below)
        state = state + k[:, here].mT @ value[:, here]
        normalizer = normalizer + k[:, here].sum(dim=1)[:, :, None]
    return torch.cat(outputs, dim=1)
# %% wrong: the normalizer sums keys before the feature map
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])
    normalizer = q.new_zeros(len(q), q.shape[-1], 1)
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()
        above = table @ value[:, here] + q[:, here] @ state
        below = table.sum(dim=-1, keepdim=True) + q[:, here] @ normalizer
        outputs.append(above / below)
        state = state + k[:, here].mT @ value[:, here]
        normalizer = normalizer + key[:, here].sum(dim=1)[:, :, None]
    return torch.cat(outputs, dim=1)
# %% wrong: chunk and past are divided each by its own sum and then added
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])
    normalizer = q.new_zeros(len(q), q.shape[-1], 1)
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()
        above = table @ value[:, here]
        below = table.sum(dim=-1, keepdim=True)
        output = above / below
        if start:
            output = output + q[:, here] @ state / (q[:, here] @ normalizer)
        outputs.append(output)
        state = state + k[:, here].mT @ value[:, here]
        normalizer = normalizer + k[:, here].sum(dim=1)[:, :, None]
    return torch.cat(outputs, dim=1)
# %% wrong: the sum below goes along the queries of the table
def mean_in_chunks(query, key, value, chunk_size):
    q, k = feature_map(query), feature_map(key)
    state = q.new_zeros(len(q), q.shape[-1], value.shape[-1])
    normalizer = q.new_zeros(len(q), q.shape[-1], 1)
    outputs = []
    for start in range(0, q.shape[1], chunk_size):
        here = slice(start, start + chunk_size)
        table = (q[:, here] @ k[:, here].mT).tril()
        above = table @ value[:, here] + q[:, here] @ state
        below = table.sum(dim=1)[:, :, None] + q[:, here] @ normalizer
        outputs.append(above / below)
        state = state + k[:, here].mT @ value[:, here]
        normalizer = normalizer + k[:, here].sum(dim=1)[:, :, None]
    return torch.cat(outputs, dim=1)
# %% right: a column of ones beside the values carries the denominator
def mean_in_chunks(query, key, value, chunk_size):
    with_ones = F.pad(value, (0, 1), value=1.0)
    state, outputs = 0, []
    for q, k, v in zip(*(x.split(chunk_size, 1) for x in (query, key, with_ones))):
        q, k = feature_map(q), feature_map(k)
        table = torch.tril(torch.einsum("bid,bjd->bij", q, k))
        state = state + q.new_zeros(len(q), q.shape[2], v.shape[2])
        both = torch.einsum("bij,bjv->biv", table, v) + torch.einsum("bid,bdv->biv", q, state)
        outputs.append(both[..., :-1] / both[..., -1:])
        state = state + torch.einsum("bjd,bjv->bdv", k, v)
    return torch.cat(outputs, dim=1)
# %% right: the denominators of all positions by a running sum of keys, the numerators in chunks
def mean_in_chunks(query, key, value, chunk_size):
    q, k = map(feature_map, (query, key))
    below = (q * k.cumsum(dim=1)).sum(-1)
    above = torch.empty_like(value)
    past = torch.zeros(value.shape[0], q.shape[-1], value.shape[-1], dtype=value.dtype)
    start = 0
    while start < value.shape[1]:
        c = slice(start, min(start + chunk_size, value.shape[1]))
        n = c.stop - c.start
        seen = torch.arange(n)[:, None] >= torch.arange(n)
        inside = torch.bmm(torch.where(seen, q[:, c] @ k[:, c].mT, 0.0), value[:, c])
        above[:, c] = torch.baddbmm(inside, q[:, c], past)
        past = torch.baddbmm(past, k[:, c].mT, value[:, c])
        start = c.stop
    return above / below.unsqueeze(-1)
