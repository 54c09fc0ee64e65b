# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: leaves the mask of the cross-attention away altogether
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    x = x + self_attention(x, mask=mask)
    return x + cross_attention(x, memory, memory)


# %% wrong: uses the target's padding mask for the cross-attention, an error unless target and source are equally long
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    target_padding = masks.padding_mask(target, 0)
    x = x + self_attention(x, mask=target_padding & masks.causal_mask(target.shape[1]))
    return x + cross_attention(x, memory, memory, mask=target_padding)


# %% wrong: keeps the causal mask in the cross-attention, next to the right padding mask of the source
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    L_t, L_s = target.shape[1], source.shape[1]
    x = x + self_attention(x, mask=masks.padding_mask(target, 0) & masks.causal_mask(L_t))
    causal = torch.ones(L_t, L_s, dtype=torch.bool).tril()
    return x + cross_attention(x, memory, memory, mask=masks.padding_mask(source, 0) & causal)


# %% wrong: counts the tokens of each source and allows that many positions from the left, which is wrong for padding on the left
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    self_mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    lengths = (source != 0).sum(dim=1)
    cross_mask = torch.arange(source.shape[1])[None, :] < lengths[:, None]  # (B, L_s)
    x = x + self_attention(x, mask=self_mask)
    return x + cross_attention(x, memory, memory, mask=cross_mask[:, None, None, :])


# %% wrong: sets the memory to 0 at the padding instead of masking it, so padding still takes attention weight
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    x = x + self_attention(x, mask=mask)
    memory = memory * (source != 0)[..., None]
    return x + cross_attention(x, memory, memory)


# %% wrong: uses the padding of the first source for the whole batch
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    target_mask = masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1])
    source_mask = masks.padding_mask(source[:1], 0)  # (1, 1, 1, L_s)
    x = x + self_attention(x, mask=target_mask)
    x = x + cross_attention(x, memory, memory, mask=source_mask)
    return x


# %% two mistakes: drops the residual connection around the cross-attention; and takes the causal mask away from self-attention
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    x = x + self_attention(x, mask=masks.padding_mask(target, 0))
    return cross_attention(x, memory, memory, mask=masks.padding_mask(source, 0))


# %% right: one sequence of the batch after the other, each with its own masks
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    outputs = []
    for b in range(x.shape[0]):
        one, m = slice(b, b + 1), memory[b : b + 1]
        mask = masks.padding_mask(target[one], 0) & masks.causal_mask(target.shape[1])
        y = x[one] + self_attention(x[one], mask=mask)
        outputs.append(y + cross_attention(y, m, m, mask=masks.padding_mask(source[one], 0)))
    return torch.cat(outputs)


# %% right: masks by hand from comparisons, written out for every query
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    B, L_t = target.shape
    L_s = source.shape[1]
    time = torch.arange(L_t)
    self_mask = (target != 0).view(B, 1, 1, L_t).logical_and(time[:, None] >= time)
    cross_mask = source.ne(0).reshape(B, 1, 1, L_s).expand(B, 1, L_t, L_s)
    x = x + self_attention(x, x, x, mask=self_mask)
    return cross_attention(x, memory, memory, mask=cross_mask) + x


# %% right: moves the padding of the source to the end by a stable sort first (the order of keys does not matter) and masks there
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    x = x + self_attention(x, mask=masks.padding_mask(target, 0) & masks.causal_mask(target.shape[1]))
    order = torch.argsort((source == 0).long(), dim=1, stable=True)
    sorted_source = source.gather(1, order)
    sorted_memory = memory.gather(1, order[..., None].expand_as(memory))
    allowed = torch.arange(source.shape[1]) < (sorted_source != 0).sum(dim=1, keepdim=True)
    return x + cross_attention(x, sorted_memory, sorted_memory, mask=allowed[:, None, None])


# %% wrong: named in the review: the cross-attention masks rows: the target's padding as queries
def two_attentions(x, memory, target, source, self_attention, cross_attention):
    padding = masks.padding_mask(target, 0)
    x = x + self_attention(x, mask=padding & masks.causal_mask(target.shape[1]))
    return x + cross_attention(x, memory, memory, mask=padding.transpose(-2, -1))
