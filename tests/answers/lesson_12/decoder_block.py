# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions, apply_rope, rotary_angles

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

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions

# %% wrong: makes a mask only when the cache is empty or missing, so later pieces of more than one token see their own future
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        length = x.shape[1]
        mask = causal_mask(length, length) if cache is None or cache.length == 0 else None
        y = x + self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        return y + self.feed_forward(self.norm_2(y))

# %% right: cuts the last rows out of the mask over all positions, and adds the branches up at the end
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        new = x.shape[1]
        total = new if cache is None else int(cache.length) + new
        mask = torch.ones(1, 1, total, total, dtype=torch.bool).triu(diagonal=1).logical_not()[:, :, total - new :]
        branches = [x]
        branches.append(self.self_attention(self.norm_1(x), mask=mask, cache=cache))
        branches.append(self.feed_forward(self.norm_2(torch.stack(branches).sum(dim=0))))
        return branches[0] + branches[1] + branches[2]

# %% setup
import torch
from torch import nn
from course_utils.layers import RMSNorm, SwiGLU
from course_utils.masks import causal_mask
from course_utils.multi_head import MultiHeadAttention
from course_utils.positions import RotaryPositions

# %% right: the mask by comparing places, one list of branches
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
        start = getattr(cache, "length", 0)
        end = start + x.size(1)
        mask = torch.arange(start, end).unsqueeze(1).ge(torch.arange(end))[None, None]
        attend = lambda y: self.self_attention(y, mask=mask, cache=cache)
        for norm, part in ((self.norm_1, attend), (self.norm_2, self.feed_forward)):
            x = torch.add(x, part(norm(x)))
        return x
