# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: cuts the memory off behind the longest source and uses no mask, so the padding of shorter sources is seen and sources with padding on the left lose tokens
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    x = x + self_attention(x, mask=mask)
    longest = int((source != 0).sum(dim=1).max())
    memory = memory[:, :longest]
    return x + cross_attention(x, memory, memory)


# %% wrong: makes the mask of cross-attention from the first source of the batch only, right for a batch of one or equal padding
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    x = x + self_attention(x, mask=mask)
    source_mask = (source[0] != 0)[None, None, None, :]
    return x + cross_attention(x, memory, memory, mask=source_mask)


# %% wrong: cross-attention asks with the old x instead of the result of self-attention
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    own = self_attention(x, mask=mask)
    other = cross_attention(x, memory, memory, mask=masks.padding_mask(source, 0))
    return x + own + other


# %% wrong: the output is right, but the memory is set to 0 at the padding in place (through .data), so the caller's memory has changed afterwards
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    memory.data[source == 0] = 0.0
    x = x + self_attention(x, mask=mask)
    return x + cross_attention(x, memory, memory, mask=masks.padding_mask(source, 0))


# %% right: goes through the batch and hands cross-attention only the memory of real tokens, chosen by a boolean index
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    x = x + self_attention(x, mask=mask)
    rows = []
    for b in range(x.shape[0]):
        real = memory[b : b + 1, source[b].ne(0)]
        all_seen = torch.ones(1, 1, 1, real.shape[1], dtype=torch.bool)
        rows.append(x[b : b + 1] + cross_attention(x[b : b + 1], real, real, mask=all_seen))
    return torch.cat(rows)


# %% right: own masks by comparison and tril; the memory sorted so that real tokens come first, hidden by their count, since the order of keys does not matter
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    L_t = target.shape[1]
    may = torch.ones(L_t, L_t, dtype=torch.bool).tril() & target.ne(0)[:, None, None, :]
    x = torch.add(x, self_attention(x, x, x, mask=may))
    order = source.eq(0).int().argsort(dim=1, stable=True)
    count = source.ne(0).sum(dim=1)
    sorted_memory = torch.take_along_dim(memory, order[..., None], dim=1)
    seen = torch.arange(source.shape[1]) < count[:, None]
    return torch.add(x, cross_attention(x, sorted_memory, sorted_memory, mask=seen[:, None, None, :]))
