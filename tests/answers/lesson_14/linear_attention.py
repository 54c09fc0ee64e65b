# %% setup
import torch
import torch.nn.functional as F
from course_utils.linear_attention import feature_map

# %% wrong: never divided
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    out = []
    for t in range(q.shape[1]):
        state = state + k[:, t, :, None] @ value[:, t, None]
        normalizer = normalizer + k[:, t]
        out.append((q[:, t, None] @ state)[:, 0])
    return torch.stack(out, 1), state, normalizer

# %% wrong: the masked table of the whole text
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    table = (q @ k.mT).tril()
    out = (table @ value + q @ state) / (table.sum(-1) + (q * normalizer[:, None]).sum(-1))[..., None]
    return out, state + k.mT @ value, normalizer + k.sum(1)

# %% wrong: begins with zeros in place of what is given
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    state = (k[..., None] * value[:, :, None]).cumsum(1)
    normalizer = k.cumsum(1)
    out = (q[:, :, None] @ state)[:, :, 0] / (q * normalizer).sum(-1, keepdim=True)
    return out, state[:, -1], normalizer[:, -1]

# %% wrong: changes the state that it is given in place
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    out = []
    for t in range(q.shape[1]):
        state += k[:, t, :, None] @ value[:, t, None]
        normalizer += k[:, t]
        out.append((q[:, t, None] @ state)[:, 0] / (q[:, t] * normalizer).sum(-1, keepdim=True))
    return torch.stack(out, 1), state, normalizer

# %% wrong: reads before it writes, and guards the empty sum
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    out = []
    for t in range(q.shape[1]):
        out.append((q[:, t, None] @ state)[:, 0] / ((q[:, t] * normalizer).sum(-1, keepdim=True) + 1e-6))
        state = state + k[:, t, :, None] @ value[:, t, None]
        normalizer = normalizer + k[:, t]
    return torch.stack(out, 1), state, normalizer

# %% two mistakes: no feature map on the queries; and divides by the number of positions
def linear_attention(query, key, value, state, normalizer):
    k = feature_map(key)
    out = []
    for t in range(k.shape[1]):
        state = state + k[:, t, :, None] @ value[:, t, None]
        normalizer = normalizer + k[:, t]
        out.append((query[:, t, None] @ state)[:, 0] / (t + 1))
    return torch.stack(out, 1), state, normalizer

# %% right: running sums
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    states = state[:, None] + (k[..., None] * value[:, :, None]).cumsum(1)
    sums = normalizer[:, None] + k.cumsum(1)
    out = (q[:, :, None] @ states)[:, :, 0] / (q * sums).sum(-1, keepdim=True)
    return out, states[:, -1], sums[:, -1]

# %% right: the normalizer as one more column of the state
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    v = torch.cat([value, torch.ones_like(value[..., :1])], -1)
    S = torch.cat([state, normalizer[..., None]], -1)
    out = []
    for t in range(q.shape[1]):
        S = torch.baddbmm(S, k[:, t, :, None], v[:, t, None])
        out.append(torch.bmm(q[:, t, None], S))
    out = torch.cat(out, 1)
    return out[..., :-1] / out[..., -1:], S[..., :-1], S[..., -1]


# %% setup
import torch
import torch.nn.functional as F
from course_utils.linear_attention import feature_map
import math

# %% wrong: no feature map on the keys that go into the normalizer
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    outputs = []
    for t in range(query.shape[1]):
        state = state + k[:, t, :, None] * value[:, t, None, :]
        normalizer = normalizer + key[:, t]
        above = (q[:, t, :, None] * state).sum(dim=1)
        below = (q[:, t] * normalizer).sum(dim=-1, keepdim=True)
        outputs.append(above / below)
    return torch.stack(outputs, dim=1), state, normalizer
# %% wrong: the given state and normalizer are changed in place
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    outputs = []
    for t in range(query.shape[1]):
        state += k[:, t, :, None] * value[:, t, None, :]
        normalizer += k[:, t]
        above = (q[:, t, :, None] * state).sum(dim=1)
        below = (q[:, t] * normalizer).sum(dim=-1, keepdim=True)
        outputs.append(above / below)
    return torch.stack(outputs, dim=1), state, normalizer
# %% wrong: the given normalizer is not used, it starts from zero
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    outputs = []
    normalizer = torch.zeros_like(normalizer)
    for t in range(query.shape[1]):
        state = state + k[:, t, :, None] * value[:, t, None, :]
        normalizer = normalizer + k[:, t]
        above = (q[:, t, :, None] * state).sum(dim=1)
        below = (q[:, t] * normalizer).sum(dim=-1, keepdim=True)
        outputs.append(above / below)
    return torch.stack(outputs, dim=1), state, normalizer
# %% wrong: a position does not see itself: read before write (and 0 / 0 at the start)
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    outputs = []
    for t in range(query.shape[1]):
        above = (q[:, t, :, None] * state).sum(dim=1)
        below = (q[:, t] * normalizer).sum(dim=-1, keepdim=True)
        outputs.append(above / below)
        state = state + k[:, t, :, None] * value[:, t, None, :]
        normalizer = normalizer + k[:, t]
    return torch.stack(outputs, dim=1), state, normalizer
# %% wrong: every output is divided by the normalizer after the last position
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    normalizer = normalizer + k.sum(dim=1)
    outputs = []
    for t in range(query.shape[1]):
        state = state + torch.einsum("bk,bv->bkv", k[:, t], value[:, t])
        above = torch.einsum("bk,bkv->bv", q[:, t], state)
        outputs.append(above / (q[:, t] * normalizer).sum(-1, keepdim=True))
    return torch.stack(outputs, dim=1), state, normalizer
# %% wrong: divided by the sum of the keys, without the query
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    outputs = []
    for t in range(query.shape[1]):
        state = state + k[:, t, :, None] * value[:, t, None, :]
        normalizer = normalizer + k[:, t]
        above = (q[:, t, :, None] * state).sum(dim=1)
        below = normalizer.sum(dim=-1, keepdim=True)
        outputs.append(above / below)
    return torch.stack(outputs, dim=1), state, normalizer
# %% wrong: the feature map only on the keys, not on the queries
def linear_attention(query, key, value, state, normalizer):
    q, k = query, feature_map(key)
    outputs = []
    for t in range(query.shape[1]):
        state = state + k[:, t, :, None] * value[:, t, None, :]
        normalizer = normalizer + k[:, t]
        above = (q[:, t, :, None] * state).sum(dim=1)
        below = (q[:, t] * normalizer).sum(dim=-1, keepdim=True)
        outputs.append(above / below)
    return torch.stack(outputs, dim=1), state, normalizer
# %% right: a column of ones at the values, so that state and normalizer are one matrix
def linear_attention(query, key, value, state, normalizer):
    both = torch.cat([state, normalizer.unsqueeze(-1)], dim=-1)  # (B, d_k, d_v + 1)
    ones = torch.ones_like(value[..., :1])
    extended = torch.cat([value, ones], dim=-1)
    found = torch.empty_like(extended)
    for t, (k, v, q) in enumerate(
        zip(feature_map(key).unbind(1), extended.unbind(1), feature_map(query).unbind(1))
    ):
        both = torch.baddbmm(both, k.unsqueeze(2), v.unsqueeze(1))
        found[:, t] = torch.einsum("bk,bkv->bv", q, both)
    return found[..., :-1] / found[..., -1:], both[..., :-1], both[..., -1]
# %% right: a generator for the states, the denominators at once with cumsum
def linear_attention(query, key, value, state, normalizer):
    q, k = feature_map(query), feature_map(key)
    sums = torch.cat([normalizer[:, None], k], dim=1).cumsum(dim=1)  # (B, L + 1, d_k)

    def states():
        now = state.clone()
        for t in range(key.shape[1]):
            now = now + torch.einsum("bi,bj->bij", k[:, t], value[:, t])
            yield now

    last, rows = state.clone(), []
    for t, last in enumerate(states()):
        rows.append(q[:, t : t + 1] @ last)
    below = torch.einsum("blk,blk->bl", q, sums[:, 1:])
    return torch.cat(rows, dim=1) / below[..., None], last, sums[:, -1]
