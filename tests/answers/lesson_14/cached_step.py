# %% setup
import math

import torch
import torch.nn.functional as F

from course_utils.positions import apply_rope, rotary_angles

# %% right: plain torch.cat and slices, batched matmul
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    if keys.shape[1] > sinks + window:
        keys = torch.cat([keys[:, :sinks], keys[:, sinks + 1:]], dim=1)
        values = torch.cat([values[:, :sinks], values[:, sinks + 1:]], dim=1)
    m, d = keys.shape[1], keys.shape[2]
    angles = rotary_angles(torch.arange(m), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    turned = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[-1:], sin[-1:])
    weights = torch.softmax(q @ turned.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values

# %% right: a list of the indices to keep, einsum
def cached_step(query, key, value, keys, values, window, sinks):
    n, d = keys.shape[1:]
    keep = list(range(n + 1))
    if len(keep) > sinks + window:
        del keep[sinks]
    keys = torch.cat((keys, key.unsqueeze(1)), 1)[:, keep]
    values = torch.cat((values, value.unsqueeze(1)), 1)[:, keep]
    angles = rotary_angles(torch.arange(len(keep)), d).to(query.dtype)
    cos, sin = angles.cos(), angles.sin()
    k = apply_rope(keys, cos, sin)
    # the query is turned to all the places, and the last one is taken
    q = apply_rope(query.unsqueeze(1).expand(-1, len(keep), -1), cos, sin)[:, -1]
    scores = torch.einsum("bd,bmd->bm", q, k) * d ** -0.5
    return torch.einsum("bm,bmv->bv", scores.softmax(-1), values), keys, values

# %% right: loops over the batch and the places, softmax by hand, lists of rows
def cached_step(query, key, value, keys, values, window, sinks):
    d = query.shape[-1]

    def turn(x, place):
        a = rotary_angles(torch.tensor([place]), d)
        return apply_rope(x[None], a.cos().to(x.dtype), a.sin().to(x.dtype))[0]

    outs, new_keys, new_values = [], [], []
    for b in range(query.shape[0]):
        ks = [k for k in keys[b]] + [key[b]]
        vs = [v for v in values[b]] + [value[b]]
        if len(ks) > sinks + window:
            ks.pop(sinks)
            vs.pop(sinks)
        q = turn(query[b], len(ks) - 1)
        scores = [torch.dot(q, turn(k, j)) / math.sqrt(d) for j, k in enumerate(ks)]
        top = max(scores)
        weights = [torch.exp(s - top) for s in scores]
        total = sum(weights)
        out = torch.zeros_like(value[b])
        for w, v in zip(weights, vs):
            out = out + w / total * v
        outs.append(out)
        new_keys.append(torch.stack(ks))
        new_values.append(torch.stack(vs))
    return torch.stack(outs), torch.stack(new_keys), torch.stack(new_values)

# %% right: torch.roll of the part behind the sinks into a copy, F.scaled_dot_product_attention
def push(old, new, window, sinks):
    if old.shape[1] < sinks + window:
        return torch.cat([old, new[:, None]], dim=1)
    buffer = old.clone()
    buffer[:, sinks:] = torch.roll(old[:, sinks:], shifts=-1, dims=1)
    buffer[:, -1] = new
    return buffer


def cached_step(query, key, value, keys, values, window, sinks):
    keys = push(keys, key, window, sinks)
    values = push(values, value, window, sinks)
    angles = rotary_angles(torch.arange(keys.shape[1]), keys.shape[2])
    cos = angles.cos().to(keys)
    sin = angles.sin().to(keys)
    q = apply_rope(query[:, None, :], cos[-1:], sin[-1:])
    out = F.scaled_dot_product_attention(q, apply_rope(keys, cos, sin), values)
    return out.squeeze(1), keys, values

# %% right: only differences of places count, so the query stays and the keys are turned to place - last; index_select, products and sums
def cached_step(query, key, value, keys, values, window, sinks):
    B, n, d = keys.shape
    full = n == sinks + window
    index = torch.arange(n)
    if full:
        index = index[index != sinks]
    keys = torch.cat([keys.index_select(1, index), key.view(B, 1, d)], dim=1)
    values = torch.cat([values.index_select(1, index), value.view(B, 1, -1)], dim=1)
    m = n if full else n + 1
    angles = rotary_angles(torch.arange(m) - (m - 1), d)
    turned = apply_rope(keys, angles.cos().to(keys.dtype), angles.sin().to(keys.dtype))
    scores = (turned * query[:, None]).sum(-1) / d ** 0.5
    weights = (scores - scores.logsumexp(dim=1, keepdim=True)).exp()
    return (weights[..., None] * values).sum(dim=1), keys, values

# %% wrong: the query is turned to the old length n, one too far once the cache is full
def cached_step(query, key, value, keys, values, window, sinks):
    n, d = keys.shape[1], keys.shape[2]
    if n + 1 > sinks + window:
        keys = torch.cat([keys[:, :sinks], keys[:, sinks + 1:]], dim=1)
        values = torch.cat([values[:, :sinks], values[:, sinks + 1:]], dim=1)
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    a_k = rotary_angles(torch.arange(keys.shape[1]), d).to(keys.dtype)
    a_q = rotary_angles(torch.tensor([n]), d).to(keys.dtype)
    k = apply_rope(keys, a_k.cos(), a_k.sin())
    q = apply_rope(query[:, None], a_q.cos(), a_q.sin())
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values

# %% wrong: the keys are turned before one is dropped, so the places have a gap behind the sinks
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    m, d = keys.shape[1], keys.shape[2]
    angles = rotary_angles(torch.arange(m), d).to(keys.dtype)
    cos, sin = angles.cos(), angles.sin()
    k = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[-1:], sin[-1:])
    keep = [i for i in range(m) if not (m > sinks + window and i == sinks)]
    k, keys, values = k[:, keep], keys[:, keep], values[:, keep]
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values

# %% wrong: the turned keys are returned as the cache, so that they get turned again at the next step
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    if keys.shape[1] > sinks + window:
        keys = torch.cat([keys[:, :sinks], keys[:, sinks + 1:]], dim=1)
        values = torch.cat([values[:, :sinks], values[:, sinks + 1:]], dim=1)
    d = keys.shape[2]
    angles = rotary_angles(torch.arange(keys.shape[1]), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    keys = apply_rope(keys, cos, sin)
    query = apply_rope(query[:, None], cos[-1:], sin[-1:])
    weights = torch.softmax(query @ keys.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values

# %% wrong: keys[:, -(window - 1):] is everything when window is 1
def cached_step(query, key, value, keys, values, window, sinks):
    d = keys.shape[2]
    if keys.shape[1] == sinks + window:
        keys = torch.cat([keys[:, :sinks], keys[:, -(window - 1):]], dim=1)
        values = torch.cat([values[:, :sinks], values[:, -(window - 1):]], dim=1)
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    angles = rotary_angles(torch.arange(keys.shape[1]), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    k = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[-1:], sin[-1:])[:, 0]
    scores = torch.einsum("bd,bmd->bm", q, k) / math.sqrt(d)
    return torch.einsum("bm,bmv->bv", scores.softmax(-1), values), keys, values

# %% wrong: sinks and last window are joined without asking whether there is room, so a short cache holds positions twice
def cached_step(query, key, value, keys, values, window, sinks):
    d = keys.shape[2]
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    keys = torch.cat([keys[:, :sinks], keys[:, -window:]], dim=1)
    values = torch.cat([values[:, :sinks], values[:, -window:]], dim=1)
    angles = rotary_angles(torch.arange(keys.shape[1]), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    k = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[-1:], sin[-1:])
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values

# %% wrong: attends first and drops afterwards, so the dropped position is still seen in this step
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    m, d = keys.shape[1], keys.shape[2]
    angles = rotary_angles(torch.arange(m), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    k = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[-1:], sin[-1:])
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    out = (weights @ values)[:, 0]
    if m > sinks + window:
        keep = list(range(sinks)) + list(range(sinks + 1, m))
        keys, values = keys[:, keep], values[:, keep]
    return out, keys, values

# %% wrong: the newest is written into the slot of the dropped one, so the cache is not in order of age and the place is wrong
def cached_step(query, key, value, keys, values, window, sinks):
    n, d = keys.shape[1], keys.shape[2]
    if n < sinks + window:
        place = n
        keys = torch.cat([keys, key[:, None]], dim=1)
        values = torch.cat([values, value[:, None]], dim=1)
    else:
        place = sinks
        keys, values = keys.clone(), values.clone()
        keys[:, place] = key
        values[:, place] = value
    angles = rotary_angles(torch.arange(keys.shape[1]), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    k = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[place:place + 1], sin[place:place + 1])
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values

# %% wrong: a full cache is shifted in place, which changes the caller's keys and values
def cached_step(query, key, value, keys, values, window, sinks):
    d = keys.shape[2]
    if keys.shape[1] == sinks + window:
        keys[:, sinks:] = torch.roll(keys[:, sinks:], -1, dims=1)
        values[:, sinks:] = torch.roll(values[:, sinks:], -1, dims=1)
        keys[:, -1] = key
        values[:, -1] = value
    else:
        keys = torch.cat([keys, key[:, None]], dim=1)
        values = torch.cat([values, value[:, None]], dim=1)
    angles = rotary_angles(torch.arange(keys.shape[1]), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    k = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[-1:], sin[-1:])
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values

# %% wrong: the output is gathered in torch.zeros without a dtype, so it is float32 for float64 inputs
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    m, d = keys.shape[1], keys.shape[2]
    if m > sinks + window:
        keep = torch.arange(m) != sinks
        keys, values = keys[:, keep], values[:, keep]
        m -= 1
    angles = rotary_angles(torch.arange(m), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    out = torch.zeros(values.shape[0], values.shape[2])
    for b in range(keys.shape[0]):
        k = apply_rope(keys[b], cos, sin)
        q = apply_rope(query[b:b + 1], cos[-1:], sin[-1:])[0]
        weights = torch.softmax(k @ q / math.sqrt(d), dim=0)
        out[b] = weights @ values[b]
    return out, keys, values

# %% wrong: the query always gets the last place of a full cache, sinks + window - 1, even while the cache is short
def cached_step(query, key, value, keys, values, window, sinks):
    d = keys.shape[2]
    size = sinks + window
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    if keys.shape[1] > size:
        keys = torch.cat([keys[:, :sinks], keys[:, -window:]], dim=1)
        values = torch.cat([values[:, :sinks], values[:, -window:]], dim=1)
    m = keys.shape[1]
    angles = rotary_angles(torch.arange(size), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    k = apply_rope(keys, cos[:m], sin[:m])
    q = apply_rope(query[:, None], cos[size - 1:], sin[size - 1:])
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values

# %% wrong: the scores are divided by the square root of d_v (the last dimension of values) in place of d
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    if keys.shape[1] > sinks + window:
        keys = torch.cat([keys[:, :sinks], keys[:, sinks + 1:]], dim=1)
        values = torch.cat([values[:, :sinks], values[:, sinks + 1:]], dim=1)
    B, m, d = values.shape
    angles = rotary_angles(torch.arange(m), keys.shape[-1])
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    k = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[-1:], sin[-1:])
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values

# %% wrong: squeeze() without a dimension, so the batch (B = 1) or d_v = 1 is lost from the output's shape
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    if keys.shape[1] > sinks + window:
        keys = torch.cat([keys[:, :sinks], keys[:, sinks + 1:]], dim=1)
        values = torch.cat([values[:, :sinks], values[:, sinks + 1:]], dim=1)
    m, d = keys.shape[1:]
    angles = rotary_angles(torch.arange(m), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    k = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[-1:], sin[-1:])
    weights = torch.softmax(torch.bmm(q, k.mT) / math.sqrt(d), dim=-1)
    return torch.bmm(weights, values).squeeze(), keys, values

# %% wrong: room is counted as window only, so one behind the sinks is dropped as soon as there are more than window positions
def cached_step(query, key, value, keys, values, window, sinks):
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    if keys.shape[1] > window:
        keys = torch.cat([keys[:, :sinks], keys[:, sinks + 1:]], dim=1)
        values = torch.cat([values[:, :sinks], values[:, sinks + 1:]], dim=1)
    d = keys.shape[2]
    angles = rotary_angles(torch.arange(keys.shape[1]), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    k = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[-1:], sin[-1:])
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values

# %% wrong: one is dropped a step too early (>= in place of >), so the cache never fills its last place
def cached_step(query, key, value, keys, values, window, sinks):
    n, d = keys.shape[1], keys.shape[2]
    if n + 1 >= sinks + window:
        keys = torch.cat([keys[:, :sinks], keys[:, sinks + 1:]], dim=1)
        values = torch.cat([values[:, :sinks], values[:, sinks + 1:]], dim=1)
    keys = torch.cat([keys, key[:, None]], dim=1)
    values = torch.cat([values, value[:, None]], dim=1)
    angles = rotary_angles(torch.arange(keys.shape[1]), d)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    k = apply_rope(keys, cos, sin)
    q = apply_rope(query[:, None], cos[-1:], sin[-1:])
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ values)[:, 0], keys, values
