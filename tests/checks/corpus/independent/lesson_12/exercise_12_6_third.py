# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.masks import causal_mask
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles


# %% wrong: keeps the keys unturned and turns all of them at each step, so the keys it is given are turned twice and those it returns are not turned
def attend_step(query, key, value, keys, values, cos, sin):
    old, new = keys.shape[2], query.shape[2]
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    query = apply_rope(query, cos[old : old + new], sin[old : old + new])
    turned = apply_rope(keys, cos[: old + new], sin[: old + new])
    mask = causal_mask(new, old + new)
    return F.scaled_dot_product_attention(query, turned, values, attn_mask=mask), keys, values


# %% wrong: asks PyTorch for is_causal, which lines the queries up with the first keys instead of the last, so later pieces do not see the newest keys
def attend_step(query, key, value, keys, values, cos, sin):
    old, new = keys.shape[2], query.shape[2]
    cos, sin = cos[old : old + new], sin[old : old + new]
    query, key = apply_rope(query, cos, sin), apply_rope(key, cos, sin)
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    return F.scaled_dot_product_attention(query, keys, values, is_causal=True), keys, values


# %% wrong: takes the last rows of cos and sin for the new tokens, which are theirs only when the table ends with the sequence
def attend_step(query, key, value, keys, values, cos, sin):
    new = query.shape[2]
    query = apply_rope(query, cos[-new:], sin[-new:])
    key = apply_rope(key, cos[-new:], sin[-new:])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    mask = causal_mask(new, keys.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values


# %% wrong: divides the scores by the root of the values' width, which is not the width of the keys where d_v differs from d_head
def attend_step(query, key, value, keys, values, cos, sin):
    old, new = keys.shape[2], query.shape[2]
    cos, sin = cos[old : old + new], sin[old : old + new]
    query, key = apply_rope(query, cos, sin), apply_rope(key, cos, sin)
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    scores = query @ keys.transpose(2, 3) / math.sqrt(values.shape[-1])
    scores = scores.masked_fill(~causal_mask(new, old + new), -math.inf)
    return scores.softmax(dim=-1) @ values, keys, values


# %% right: picks the rows of the table by their positions, and attends with two einsums and a mask of compared positions
def attend_step(query, key, value, keys, values, cos, sin):
    old, new = keys.size(2), key.size(2)
    places = torch.arange(old, old + new)
    cos, sin = cos.index_select(0, places), sin.index_select(0, places)
    query, key = apply_rope(query, cos, sin), apply_rope(key, cos, sin)
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    scores = torch.einsum("bhqd,bhkd->bhqk", query, keys) * query.size(3) ** -0.5
    future = torch.arange(old + new) > places[:, None]
    weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
    return torch.einsum("bhqk,bhkv->bhqv", weights, values), keys, values


# %% right: takes the new tokens one after the other; each attends to what is kept so far, so no mask is needed
def attend_step(query, key, value, keys, values, cos, sin):
    outputs = []
    for t in range(query.shape[2]):
        here = slice(keys.shape[2], keys.shape[2] + 1)
        now = slice(t, t + 1)
        keys = torch.cat((keys, apply_rope(key[:, :, now], cos[here], sin[here])), dim=2)
        values = torch.cat((values, value[:, :, now]), dim=2)
        outputs.append(F.scaled_dot_product_attention(apply_rope(query[:, :, now], cos[here], sin[here]), keys, values))
    return torch.cat(outputs, dim=2), keys, values
