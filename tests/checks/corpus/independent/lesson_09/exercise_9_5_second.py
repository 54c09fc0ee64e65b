# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: in the pre-norm order the network gets the normalized x of before the attention's sum (norm_2 of the old x)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        if self.pre_norm:
            a = self.dropout(self.self_attention(self.norm_1(x), mask=mask))
            f = self.dropout(self.feed_forward(self.norm_2(x)))
            return x + a + f
        x = self.norm_1(x + self.dropout(self.self_attention(x, mask=mask)))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))


# %% wrong: in the post-norm order uses norm_1 both times, norm_2 gets no gradient
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        if self.pre_norm:
            x = x + self.dropout(self.self_attention(self.norm_1(x), mask=mask))
            return x + self.dropout(self.feed_forward(self.norm_2(x)))
        for sublayer in (lambda y: self.self_attention(y, mask=mask), self.feed_forward):
            x = self.norm_1(x + self.dropout(sublayer(x)))
        return x


# %% wrong: dropout acts on the attention's output only, the network's output is added without it (shows only in training)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        if self.pre_norm:
            x = x + self.dropout(self.self_attention(self.norm_1(x), mask=mask))
            x = x + self.feed_forward(self.norm_2(x))
        else:
            x = self.norm_1(x + self.dropout(self.self_attention(x, mask=mask)))
            x = self.norm_2(x + self.feed_forward(x))
        return x


# %% wrong: the mask is not passed on in the post-norm order, so every position attends to every other there
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        if self.pre_norm:
            x = x + self.dropout(self.self_attention(self.norm_1(x), mask=mask))
            x = x + self.dropout(self.feed_forward(self.norm_2(x)))
            return x
        x = self.norm_1(x + self.dropout(self.self_attention(x)))
        x = self.norm_2(x + self.dropout(self.feed_forward(x)))
        return x


# %% right: a loop over pairs of norm and sublayer
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        def attend(y):
            return self.self_attention(y, mask=mask)

        for norm, sublayer in ((self.norm_1, attend), (self.norm_2, self.feed_forward)):
            if self.pre_norm:
                x = x + self.dropout(sublayer(norm(x)))
            else:
                x = norm(x + self.dropout(sublayer(x)))
        return x


# %% right: self-attention called with query, key and value, network applied by a method of its own
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def _around(self, x, norm, f):
        y = norm(x) if self.pre_norm else x
        out = torch.add(x, self.dropout(f(y)))
        return out if self.pre_norm else norm(out)

    def forward(self, x, mask):
        x = self._around(x, self.norm_1, lambda y: self.self_attention(y, y, y, mask=mask))
        return self._around(x, self.norm_2, lambda y: self.feed_forward(y))
