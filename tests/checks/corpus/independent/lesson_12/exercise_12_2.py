# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles


# %% wrong: post-norm: the norms come after the residual additions instead of before attention and network
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        L = x.shape[1]
        earlier = 0 if cache is None else cache.length
        mask = causal_mask(L, earlier + L)
        x = self.norm_1(x + self.self_attention(x, mask=mask, cache=cache))
        return self.norm_2(x + self.feed_forward(x))


# %% wrong: the additions are made in place (+=), which changes the caller's x
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        L = x.shape[1]
        mask = causal_mask(L, L if cache is None else cache.length + L)
        x += self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        x += self.feed_forward(self.norm_2(x))
        return x


# %% wrong: with a cache no mask is used, so several new positions fed at once see each other's future
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        mask = causal_mask(x.shape[1]) if cache is None else None
        x = x + self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: norm_1 is used before the network too, norm_2 never
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        L = x.shape[1]
        earlier = cache.length if cache is not None else 0
        mask = causal_mask(L, earlier + L)
        x = x + self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        return x + self.feed_forward(self.norm_1(x))


# %% wrong: an empty cache is taken for none and not handed to the attention, so the first piece is never stored
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        L = x.shape[1]
        if cache is None or cache.length == 0:
            attended = self.self_attention(self.norm_1(x), mask=causal_mask(L))
        else:
            attended = self.self_attention(self.norm_1(x), mask=causal_mask(L, cache.length + L), cache=cache)
        x = x + attended
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: the residual connection carries the normed input instead of x itself
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        L = x.shape[1]
        mask = causal_mask(L, L + (cache.length if cache is not None else 0))
        y = self.norm_1(x)
        x = y + self.self_attention(y, mask=mask, cache=cache)
        y = self.norm_2(x)
        return y + self.feed_forward(y)


# %% two mistakes: there is no residual connection around the network; and the mask is as wide as the new positions only, which does not fit the keys in the cache
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        mask = causal_mask(x.shape[1], x.shape[1])
        x = x + self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        return self.feed_forward(self.norm_2(x))


# %% right: the mask is built by comparing positions, and torch.add joins the branches
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        earlier = 0 if cache is None else cache.length
        keys = torch.arange(earlier + x.shape[1], device=x.device)
        queries = keys[earlier:]
        mask = (keys[None, :] <= queries[:, None])[None, None]  # (1, 1, L_new, L_all)
        after_attention = torch.add(x, self.self_attention(self.norm_1(x), mask=mask, cache=cache))
        return torch.add(after_attention, self.feed_forward(self.norm_2(after_attention)))


# %% right: no mask at all for a single new position, and helper methods for the two halves
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        return self.network_half(self.attention_half(x, cache))

    def attention_half(self, x, cache):
        L = x.shape[1]
        if L == 1:
            mask = None  # the last position sees all
        else:
            mask = causal_mask(L, L + getattr(cache, "length", 0))
        return x + self.self_attention(self.norm_1(x), mask=mask, cache=cache)

    def network_half(self, x):
        return x + self.feed_forward(self.norm_2(x))


# %% right: works on a copy of x, to which each branch is added in a loop
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        L = x.shape[1]
        start = 0
        if cache is not None:
            start = cache.length
        square = causal_mask(start + L, start + L)
        mask = square[:, :, start:, :]
        branches = (
            (self.norm_1, lambda y: self.self_attention(y, mask=mask, cache=cache)),
            (self.norm_2, self.feed_forward),
        )
        y = x.clone()
        for norm, branch in branches:
            y = y + branch(norm(y))
        return y


# %% wrong: named in the review: the last cache is remembered and used if none is given
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)
        self.cache = None

    def forward(self, x, cache=None):
        if cache is not None:
            self.cache = cache
        earlier = 0 if self.cache is None else self.cache.length
        mask = causal_mask(x.shape[1], earlier + x.shape[1])
        x = x + self.self_attention(self.norm_1(x), mask=mask, cache=self.cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: named in the review: the first cache is kept and used in place of all later ones
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)
        self.cache = None

    def forward(self, x, cache=None):
        if cache is not None:
            self.cache = cache = self.cache or cache
        earlier = 0 if cache is None else cache.length
        mask = causal_mask(x.shape[1], earlier + x.shape[1])
        x = x + self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: x = norm_1(x) overwrites what the direct path should carry around the attention
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(
            d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary
        )
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        start = 0 if cache is None else cache.length
        mask = causal_mask(x.shape[1], start + x.shape[1])
        x = self.norm_1(x)
        x = x + self.self_attention(x, mask=mask, cache=cache)
        return x + self.feed_forward(self.norm_2(x))
