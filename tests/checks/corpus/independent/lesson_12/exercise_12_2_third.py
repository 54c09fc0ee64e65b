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


# %% wrong: takes the first rows of the causal mask over all positions for the new queries instead of the last ones
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        new = x.shape[1]
        everything = new + (cache.length if cache is not None else 0)
        mask = causal_mask(everything, everything)[..., :new, :]
        y = x + self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        return y + self.feed_forward(self.norm_2(y))


# %% wrong: normalizes by norm_1 before the network too, so norm_2 is never used, which shows once the norms have other weights
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        old = 0 if cache is None else cache.length
        mask = causal_mask(x.shape[1], old + x.shape[1])
        for part in (lambda y: self.self_attention(y, mask=mask, cache=cache), self.feed_forward):
            x = x + part(self.norm_1(x))
        return x


# %% wrong: runs attention and network side by side: the network gets x, not the sum of x and the attention
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        old = 0 if cache is None else cache.length
        mask = causal_mask(x.shape[1], old + x.shape[1])
        attended = self.self_attention(self.norm_1(x), mask=mask, cache=cache)
        return x + attended + self.feed_forward(self.norm_2(x))


# %% right: compares the positions of queries and keys for the mask, and takes the network token by token
class DecoderBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, d_ff):
        super().__init__()
        rotary = RotaryPositions(d_model // num_heads)
        self.self_attention = MultiHeadAttention(d_model, num_heads, num_kv_heads=num_kv_heads, bias=False, rotary=rotary)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm_1, self.norm_2 = RMSNorm(d_model), RMSNorm(d_model)

    def forward(self, x, cache=None):
        new = x.shape[1]
        old = cache.length if cache is not None else 0
        keys = torch.arange(old + new)
        mask = (keys[old:, None] >= keys)[None, None]
        attended = torch.add(x, self.self_attention(self.norm_1(x), mask=mask, cache=cache))
        tokens = [token + self.feed_forward(self.norm_2(token)) for token in attended.split(1, dim=1)]
        return torch.cat(tokens, dim=1)


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
