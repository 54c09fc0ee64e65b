# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

# %% wrong: uses norm_1 before the feed-forward network too, which shows only when the two norms have different weights
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        L = x.shape[1]
        old = 0 if cache is None else cache.length
        h = x + self.self_attention(self.norm_1(x), mask=causal_mask(L, old + L), cache=cache)
        return h + self.feed_forward(self.norm_1(h))

# %% wrong: adds in place to x, so the argument is changed
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        L = x.shape[1]
        old = 0 if cache is None else cache.length
        attended = self.self_attention(self.norm_1(x.clone()), mask=causal_mask(L, old + L), cache=cache)
        x.data += attended
        return x + self.feed_forward(self.norm_2(x))

# %% wrong: uses no mask at all when there is a cache, which is right for one new position but lets pieces of several positions see the future
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        mask = causal_mask(x.shape[1], x.shape[1]) if cache is None else None
        h = x + self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        return h + self.feed_forward(self.norm_2(h))

# %% wrong: the second residual connection goes from x instead of from the result of the attention, so the attention reaches the output only through the network
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        L = x.shape[1]
        old = 0 if cache is None else cache.length
        h = x + self.self_attention(self.norm_1(x), mask=causal_mask(L, old + L), cache=cache)
        return x + self.feed_forward(self.norm_2(h))

# %% right: makes the mask from compared positions
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        start = cache.length if cache is not None else 0
        stop = start + x.size(1)
        queries = torch.arange(start, stop)[:, None]
        mask = (torch.arange(stop)[None, :] <= queries)[None, None]
        attended = self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        return x + attended + self.feed_forward(self.norm_2(x + attended))

# %% right: takes the last rows of the square causal mask and loops over the two sublayers
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        new = x.shape[1]
        total = new + (cache.length if cache is not None else 0)
        mask = causal_mask(total, total)[..., total - new :, :]
        sublayers = ((self.norm_1, lambda y: self.self_attention(y, mask=mask, cache=cache)), (self.norm_2, self.feed_forward))
        for norm, sublayer in sublayers:
            x = torch.add(x, sublayer(norm(x)))
        return x
