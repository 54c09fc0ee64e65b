# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% wrong: only the queries are turned to their true positions, the new keys are still turned as if they began at position 0
def attend_step(query, key, value, keys, values, cos, sin):
    new, old = query.shape[2], keys.shape[2]
    query = apply_rope(query, cos[old : old + new], sin[old : old + new])
    key = apply_rope(key, cos[:new], sin[:new])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    mask = causal_mask(new, keys.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values

# %% wrong: the mask is replaced by is_causal=True, which lines the triangle up at the top left, so with kept keys the new tokens see only the first ones
def attend_step(query, key, value, keys, values, cos, sin):
    new, old = query.shape[2], keys.shape[2]
    query = apply_rope(query, cos[old : old + new], sin[old : old + new])
    key = apply_rope(key, cos[old : old + new], sin[old : old + new])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    return F.scaled_dot_product_attention(query, keys, values, is_causal=True), keys, values

# %% wrong: the mask is left out, so several new tokens fed at once see each other's future
def attend_step(query, key, value, keys, values, cos, sin):
    new, old = query.shape[2], keys.shape[2]
    query = apply_rope(query, cos[old : old + new], sin[old : old + new])
    key = apply_rope(key, cos[old : old + new], sin[old : old + new])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    return F.scaled_dot_product_attention(query, keys, values), keys, values

# %% wrong: the place of the next token is remembered between calls and not taken from keys, so a second sequence goes on at the position where the first one stopped (and may run off the tables)
position = 0


def attend_step(query, key, value, keys, values, cos, sin):
    global position
    new, old = query.shape[2], position
    position = position + new
    query = apply_rope(query, cos[old : old + new], sin[old : old + new])
    key = apply_rope(key, cos[old : old + new], sin[old : old + new])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    mask = causal_mask(new, keys.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values

# %% two mistakes: the angles begin at position 0 in every call, as in the broken version; and the new keys and values are put in front of the kept ones
def attend_step(query, key, value, keys, values, cos, sin):
    new, old = query.shape[2], keys.shape[2]
    query = apply_rope(query, cos[:new], sin[:new])
    key = apply_rope(key, cos[:new], sin[:new])
    keys, values = torch.cat((key, keys), dim=2), torch.cat((value, values), dim=2)
    mask = causal_mask(new, keys.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values

# %% right: attention written out with matmul, mask from compared positions, rope on query and key at once
def attend_step(query, key, value, keys, values, cos, sin):
    old, new = keys.shape[2], query.shape[2]
    places = torch.arange(old, old + new)
    query, key = apply_rope(torch.stack((query, key)), cos[places], sin[places])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    scores = query @ keys.transpose(-2, -1) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(torch.arange(old + new) > places[:, None], float("-inf"))
    return scores.softmax(dim=-1) @ values, keys, values

# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.masks import causal_mask
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

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
