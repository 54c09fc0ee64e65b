# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% wrong: turns all keys again after joining them, so keys kept from earlier calls are turned twice
def attend_step(query, key, value, keys, values, cos, sin):
    old, new = keys.shape[2], query.shape[2]
    query = apply_rope(query, cos[old : old + new], sin[old : old + new])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    keys = apply_rope(keys, cos[: old + new], sin[: old + new])
    mask = causal_mask(new, old + new)
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values

# %% wrong: keeps and returns the keys unturned and turns all of them for its own use, while the keys handed in and out should be turned already
def attend_step(query, key, value, keys, values, cos, sin):
    old, new = keys.shape[2], query.shape[2]
    query = apply_rope(query, cos[old : old + new], sin[old : old + new])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    turned = apply_rope(keys, cos[: old + new], sin[: old + new])
    mask = causal_mask(new, old + new)
    return F.scaled_dot_product_attention(query, turned, values, attn_mask=mask), keys, values

# %% wrong: uses is_causal=True, which aligns the triangle at the upper left, so later pieces see only the oldest keys
def attend_step(query, key, value, keys, values, cos, sin):
    old, new = keys.shape[2], query.shape[2]
    query = apply_rope(query, cos[old : old + new], sin[old : old + new])
    key = apply_rope(key, cos[old : old + new], sin[old : old + new])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    return F.scaled_dot_product_attention(query, keys, values, is_causal=True), keys, values

# %% wrong: takes the last rows of cos and sin for the new tokens, which is right only if the sequence ends at max_len
def attend_step(query, key, value, keys, values, cos, sin):
    new = query.shape[2]
    query = apply_rope(query, cos[-new:], sin[-new:])
    key = apply_rope(key, cos[-new:], sin[-new:])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
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

# %% right: a loop over the new tokens, each of which sees the keys up to its own
def attend_step(query, key, value, keys, values, cos, sin):
    outputs = []
    for i in range(query.shape[2]):
        at = keys.shape[2]
        q = apply_rope(query[:, :, i : i + 1], cos[at : at + 1], sin[at : at + 1])
        k = apply_rope(key[:, :, i : i + 1], cos[at : at + 1], sin[at : at + 1])
        keys, values = torch.cat((keys, k), dim=2), torch.cat((values, value[:, :, i : i + 1]), dim=2)
        outputs.append(F.scaled_dot_product_attention(q, keys, values))
    return torch.cat(outputs, dim=2), keys, values
