# %% setup
import torch
from torch import nn
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% right: the memory bound to a small function first
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
        def ask(y):
            return self.cross_attention(y, memory, memory, mask=memory_mask)

        def look(y):
            return self.self_attention(y, y, y, mask=target_mask)

        for f, norm in zip((look, ask, self.feed_forward), (self.norm_1, self.norm_2, self.norm_3)):
            x = self.dropout(f(norm(x))) + x
        return x

# %% wrong: the queries of the cross-attention are not normalized
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
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        y = x
        x = x + self.dropout(self.cross_attention(y, memory, memory, mask=memory_mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: the network reads through norm 2, norm 3 is never used
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
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        y = self.norm_2(x)
        x = x + self.dropout(self.cross_attention(y, memory, memory, mask=memory_mask))
        return x + self.dropout(self.feed_forward(self.norm_2(x)))

# %% wrong: after the cross-attention the network is left out
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
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        y = self.norm_2(x)
        x = x + self.dropout(self.cross_attention(y, memory, memory, mask=memory_mask))
        return self.norm_3(x)

# %% wrong: the self-attention runs without its mask, so it sees the future
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
        x = x + self.dropout(self.self_attention(self.norm_1(x)))
        y = self.norm_2(x)
        x = x + self.dropout(self.cross_attention(y, memory, memory, mask=memory_mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: self-attention and cross-attention read the same normalized input side by side
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
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_2(y), memory, memory, mask=memory_mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))
