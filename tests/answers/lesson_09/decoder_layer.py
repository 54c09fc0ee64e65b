# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: cross-attends before self-attention, each with its own norm
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=memory_mask))
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: the queries of the cross-attention come from the layer's input instead of from the result of self-attention
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        attended = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        crossed = attended + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=memory_mask))
        return crossed + self.dropout(self.feed_forward(self.norm_3(crossed)))

# %% wrong: works in the post-norm order, the norms come after the sums
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        x = self.norm_1(x + self.dropout(self.self_attention(x, mask=target_mask)))
        x = self.norm_2(x + self.dropout(self.cross_attention(x, memory, memory, mask=memory_mask)))
        return self.norm_3(x + self.dropout(self.feed_forward(x)))

# %% two mistakes: uses target_mask for the cross-attention too, an error unless the lengths are equal; and norms the result once more with norm_3 at the end
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=target_mask))
        x = x + self.dropout(self.feed_forward(self.norm_3(x)))
        return self.norm_3(x)

# %% wrong: named in the review: exchanges query and memory in the cross-attention
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        y = self.norm_2(x)
        x = x + self.dropout(self.cross_attention(memory, y, y, mask=memory_mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% right: a loop over three pairs of norm and function
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        steps = [
            (self.norm_1, lambda y: self.self_attention(y, y, y, mask=target_mask)),
            (self.norm_2, lambda y: self.cross_attention(y, memory, memory, mask=memory_mask)),
            (self.norm_3, self.feed_forward),
        ]
        for norm, step in steps:
            x = x + self.dropout(step(norm(x)))
        return x

# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: sets the memory to zero at the source's padding and attends without a mask, so those positions still get weight
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        h = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        hidden = ~memory_mask[:, 0, 0, :, None]  # (B, L_s, 1)
        memory = memory.masked_fill(hidden, 0.0)
        h = h + self.dropout(self.cross_attention(self.norm_2(h), memory, memory))
        return h + self.dropout(self.feed_forward(self.norm_3(h)))

# %% right: a loop over three pairs of norm and sublayer kept in a dictionary, with lambdas for the attentions
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        sublayers = {
            self.norm_1: lambda y: self.self_attention(y, mask=target_mask),
            self.norm_2: lambda y: self.cross_attention(y, memory, memory, mask=memory_mask),
            self.norm_3: self.feed_forward,
        }
        for norm, sublayer in sublayers.items():
            x = torch.add(x, self.dropout(sublayer(norm(x))))
        return x

# %% setup
import torch
from torch import nn
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% right: three branches in a tuple, gone through in order
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.norm_3 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        for branch in (
            lambda s: self.self_attention(self.norm_1(s), mask=target_mask),
            lambda s: self.cross_attention(self.norm_2(s), memory, memory, mask=memory_mask),
            lambda s: self.feed_forward(self.norm_3(s)),
        ):
            x = torch.add(x, self.dropout(branch(x)))
        return x
