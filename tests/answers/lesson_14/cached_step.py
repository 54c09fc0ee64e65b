# %% setup
import torch
from course_utils.positions import apply_rope, rotary_angles

def turn(x, places, d):
    angles = rotary_angles(places, d).to(x.dtype)
    return apply_rope(x, angles.cos(), angles.sin())

# %% wrong: first and latest put together, short texts too
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key.unsqueeze(1)], dim=1)
    values = torch.cat([values, value.unsqueeze(1)], dim=1)
    keys = torch.cat([keys[:, :sinks], keys[:, -window:]], dim=1)
    values = torch.cat([values[:, :sinks], values[:, -window:]], dim=1)
    places = torch.arange(keys.shape[1])
    q = turn(query.unsqueeze(1), places[-1:], query.shape[-1])
    weights = torch.softmax(q @ turn(keys, places, key.shape[-1]).mT / key.shape[-1] ** 0.5, dim=-1)
    return (weights @ values).squeeze(1), keys, values

# %% wrong: hands on turned keys
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], 1)
    values = torch.cat([values, value[:, None]], 1)
    if keys.shape[1] > window + sinks:
        keys = torch.cat([keys[:, :sinks], keys[:, -window:]], 1)
        values = torch.cat([values[:, :sinks], values[:, -window:]], 1)
    places = torch.arange(keys.shape[1])
    keys = turn(keys, places, key.shape[-1])
    q = turn(query[:, None], places[-1:], key.shape[-1])
    out = torch.softmax(q @ keys.mT / key.shape[-1] ** 0.5, -1) @ values
    return out[:, 0], keys, values

# %% wrong: a plain window of window + sinks
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], 1)[:, -(window + sinks):]
    values = torch.cat([values, value[:, None]], 1)[:, -(window + sinks):]
    places = torch.arange(keys.shape[1])
    q = turn(query[:, None], places[-1:], key.shape[-1])
    out = torch.softmax(q @ turn(keys, places, key.shape[-1]).mT / key.shape[-1] ** 0.5, -1) @ values
    return out[:, 0], keys, values

# %% wrong: the query is turned to the number of positions kept before
def cached_step(query, key, value, keys, values, window, sinks):
    place = torch.tensor([keys.shape[1]])
    keys = torch.cat([keys, key[:, None]], 1)
    values = torch.cat([values, value[:, None]], 1)
    if keys.shape[1] > window + sinks:
        keys = torch.cat([keys[:, :sinks], keys[:, -window:]], 1)
        values = torch.cat([values[:, :sinks], values[:, -window:]], 1)
    q = turn(query[:, None], place, key.shape[-1])
    out = torch.softmax(q @ turn(keys, torch.arange(keys.shape[1]), key.shape[-1]).mT / key.shape[-1] ** 0.5, -1) @ values
    return out[:, 0], keys, values

# %% wrong: drops before it adds, so the window never fills
def cached_step(query, key, value, keys, values, window, sinks):
    if keys.shape[1] >= window + sinks - 1 and keys.shape[1] > sinks:
        keys = torch.cat([keys[:, :sinks], keys[:, sinks + 1:]], 1)
        values = torch.cat([values[:, :sinks], values[:, sinks + 1:]], 1)
    keys = torch.cat([keys, key[:, None]], 1)
    values = torch.cat([values, value[:, None]], 1)
    places = torch.arange(keys.shape[1])
    q = turn(query[:, None], places[-1:], key.shape[-1])
    out = torch.softmax(q @ turn(keys, places, key.shape[-1]).mT / key.shape[-1] ** 0.5, -1) @ values
    return out[:, 0], keys, values

# %% two mistakes: nothing is turned; and the oldest of all goes
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], 1)[:, -(window + sinks):]
    values = torch.cat([values, value[:, None]], 1)[:, -(window + sinks):]
    out = torch.softmax(query[:, None] @ keys.mT / key.shape[-1] ** 0.5, -1) @ values
    return out[:, 0], keys, values

# %% right: room is made first
def cached_step(query, key, value, keys, values, window, sinks):
    if keys.shape[1] == window + sinks:
        left = [i for i in range(keys.shape[1]) if i != sinks]
        keys, values = keys[:, left], values[:, left]
    keys = torch.cat([keys, key[:, None]], 1)
    values = torch.cat([values, value[:, None]], 1)
    places = torch.arange(keys.shape[1])
    q = turn(query[:, None], places[-1:], key.shape[-1])
    weights = torch.softmax(q @ turn(keys, places, key.shape[-1]).mT / key.shape[-1] ** 0.5, -1)
    return (weights @ values)[:, 0], keys, values

# %% right: distances only, the newest at place 0
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], 1)
    values = torch.cat([values, value[:, None]], 1)
    if keys.shape[1] > window + sinks:
        keep = torch.arange(keys.shape[1]) != sinks
        keys, values = keys[:, keep], values[:, keep]
    back = torch.arange(keys.shape[1]) - (keys.shape[1] - 1)
    scores = torch.einsum("bd,bnd->bn", query, turn(keys, back, key.shape[-1])) / key.shape[-1] ** 0.5
    return torch.einsum("bn,bnv->bv", scores.softmax(-1), values), keys, values
