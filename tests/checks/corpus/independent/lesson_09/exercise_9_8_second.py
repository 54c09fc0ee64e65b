# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: the cross-attention gets the padding mask of the target instead of the source; wrong pattern, and an error if the lengths differ
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    padding = masks.padding_mask(target, 0)
    x = x + self_attention(x, mask=padding & masks.causal_mask(target.shape[1]))
    return x + cross_attention(x, memory, memory, mask=padding)


# %% wrong: builds the source mask from the number of real tokens counted from the left, so padding on the left is treated wrongly
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    x = x + self_attention(x, mask=mask)
    lengths = (source != 0).sum(dim=1)
    source_mask = torch.arange(source.shape[1])[None, :] < lengths[:, None]
    return x + cross_attention(x, memory, memory, mask=source_mask[:, None, None, :])


# %% wrong: sets the memory at padding positions to zero instead of masking them, so these positions still get attention weight
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    x = x + self_attention(x, mask=mask)
    clean = memory.masked_fill((source == 0)[..., None], 0.0)
    return x + cross_attention(x, clean, clean)


# %% wrong: uses the mask of the first source for the whole batch, right only for batch 1 or equal padding
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    target_mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    x = x + self_attention(x, mask=target_mask)
    source_mask = (source[0] != 0).view(1, 1, 1, -1)
    return x + cross_attention(x, memory, memory, mask=source_mask)


# %% right: masks built by hand with comparisons, the source mask expanded to its full shape
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    L_t, L_s = target.shape[1], source.shape[1]
    rows = torch.arange(L_t, device=x.device)
    target_mask = target.ne(0)[:, None, None, :] & (rows[:, None] >= rows)
    source_mask = source.ne(0)[:, None, None, :].expand(-1, 1, L_t, L_s)
    after_self = torch.add(x, self_attention(x, x, x, mask=target_mask))
    return torch.add(after_self, cross_attention(after_self, memory, memory, mask=source_mask))


# %% right: cross-attention one sequence at a time, with the padding cut out of the memory
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    x = x + self_attention(x, mask=mask)
    rows = []
    for b in range(x.shape[0]):
        real = memory[b][source[b] != 0].unsqueeze(0)
        rows.append(cross_attention(x[b : b + 1], real, real))
    return x + torch.cat(rows, dim=0)
