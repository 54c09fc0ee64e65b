# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: the memory goes through norm_2 as well, though it is to be used as it is
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
        m = self.norm_2(memory)
        x = x + self.dropout(self.cross_attention(self.norm_2(x), m, m, mask=memory_mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))


# %% wrong: the residual connection around the cross-attention is missing
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
        x = self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=memory_mask))
        x = x + self.dropout(self.feed_forward(self.norm_3(x)))
        return x


# %% wrong: the memory is detached, so no gradient reaches it
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        memory = memory.detach()
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, mask=target_mask))
        y = self.norm_2(x)
        x = x + self.dropout(self.cross_attention(y, memory, memory, mask=memory_mask))
        y = self.norm_3(x)
        return x + self.dropout(self.feed_forward(y))


# %% wrong: the cross-attention gets no mask, so the source's padding is attended to
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
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))


# %% right: list of steps, worked through in a loop
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
            (self.norm_1, lambda y: self.self_attention(y, mask=target_mask)),
            (self.norm_2, lambda y: self.cross_attention(y, memory, memory, mask=memory_mask)),
            (self.norm_3, self.feed_forward),
        ]
        for norm, step in steps:
            x = x + self.dropout(step(norm(x)))
        return x


# %% right: the three contributions are kept apart and added at the end
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
        first = self.dropout(self.self_attention(query=y, key=y, value=y, mask=target_mask))
        second = self.dropout(self.cross_attention(query=self.norm_2(x + first), key=memory, value=memory, mask=memory_mask))
        third = self.dropout(self.feed_forward(self.norm_3(x + first + second)))
        return torch.stack((x, first, second, third), dim=0).sum(dim=0)
