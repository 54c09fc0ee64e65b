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


# %% wrong: the first position is counted as 1 when something is kept: the new tokens are turned one position too far
def attend_step(query, key, value, keys, values, cos, sin):
    new, old = query.shape[2], keys.shape[2]
    if old > 0:
        old = old + 1
    query = apply_rope(query, cos[old : old + new], sin[old : old + new])
    key = apply_rope(key, cos[old : old + new], sin[old : old + new])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    mask = causal_mask(new, keys.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values


# %% wrong: all keys, those kept included, are turned again in every step, so kept keys are turned several times
def attend_step(query, key, value, keys, values, cos, sin):
    new, old = query.shape[2], keys.shape[2]
    query = apply_rope(query, cos[old : old + new], sin[old : old + new])
    keys, values = torch.cat((keys, key), dim=2), torch.cat((values, value), dim=2)
    keys = apply_rope(keys, cos[: old + new], sin[: old + new])
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


# %% right: the attention is written out with einsum, masked_fill and softmax
def attend_step(query, key, value, keys, values, cos, sin):
    first, new = keys.shape[-2], key.shape[-2]
    here = slice(first, first + new)
    query, key = apply_rope(query, cos[here], sin[here]), apply_rope(key, cos[here], sin[here])
    keys, values = torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
    scores = torch.einsum("bhqd,bhkd->bhqk", query, keys) / math.sqrt(query.shape[-1])
    place = torch.arange(first + new, device=query.device)
    hidden = place[None, :] > place[first:, None]  # (L_new, L_all)
    weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    return torch.einsum("bhqk,bhkv->bhqv", weights, values), keys, values


# %% right: queries and keys are turned together in one call, and the tables are taken by index
def attend_step(query, key, value, keys, values, cos, sin):
    L_old, L_new = keys.size(2), query.size(2)
    positions = torch.arange(L_old, L_old + L_new, device=cos.device)
    both = torch.cat((query, key), dim=1)  # (B, 2 * H, L_new, d_head)
    query, key = apply_rope(both, cos.index_select(0, positions), sin.index_select(0, positions)).chunk(2, dim=1)
    keys = torch.cat((keys, key), 2)
    values = torch.cat((values, value), 2)
    mask = causal_mask(L_old + L_new)[:, :, L_old:]
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values


# %% right: a loop, one new token after the other, each attending without a mask to all that is kept so far
def attend_step(query, key, value, keys, values, cos, sin):
    outputs = []
    for i in range(query.shape[2]):
        at = keys.shape[2]
        q = apply_rope(query[:, :, i : i + 1], cos[at : at + 1], sin[at : at + 1])
        k = apply_rope(key[:, :, i : i + 1], cos[at : at + 1], sin[at : at + 1])
        keys = torch.cat((keys, k), dim=2)
        values = torch.cat((values, value[:, :, i : i + 1]), dim=2)
        weights = (q @ keys.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(dim=-1)
        outputs.append(weights @ values)
    return torch.cat(outputs, dim=2), keys, values


# %% wrong: the last rows of cos and sin are taken for the new tokens
def attend_step(query, key, value, keys, values, cos, sin):
    new = query.shape[2]
    query = apply_rope(query, cos[-new:], sin[-new:])
    key = apply_rope(key, cos[-new:], sin[-new:])
    keys = torch.cat((keys, key), dim=2)
    values = torch.cat((values, value), dim=2)
    mask = causal_mask(new, keys.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values


# %% wrong: the start of the queries is read from the keys after the new ones were joined
def attend_step(query, key, value, keys, values, cos, sin):
    new, old = query.shape[2], keys.shape[2]
    key = apply_rope(key, cos[old : old + new], sin[old : old + new])
    keys = torch.cat((keys, key), dim=2)
    values = torch.cat((values, value), dim=2)
    at = keys.shape[2]
    query = apply_rope(query, cos[at : at + new], sin[at : at + new])
    mask = causal_mask(new, keys.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values
