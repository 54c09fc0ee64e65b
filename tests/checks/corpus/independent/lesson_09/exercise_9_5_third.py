# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: in pre-norm only the queries are normalized, keys and values are made of x as it is
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
            h = x + self.dropout(self.self_attention(self.norm_1(x), x, x, mask=mask))
            return h + self.dropout(self.feed_forward(self.norm_2(h)))
        h = self.norm_1(x + self.dropout(self.self_attention(x, mask=mask)))
        return self.norm_2(h + self.dropout(self.feed_forward(h)))


# %% wrong: in post-norm the network gets the normalized sum, but the direct path around it carries the sum without norm 1
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
            h = x + self.dropout(self.self_attention(self.norm_1(x), mask=mask))
            return h + self.dropout(self.feed_forward(self.norm_2(h)))
        h = x + self.dropout(self.self_attention(x, mask=mask))
        return self.norm_2(h + self.dropout(self.feed_forward(self.norm_1(h))))


# %% wrong: drops by F.dropout with the probability only, which drops in eval mode too
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        p = self.dropout.p
        if self.pre_norm:
            x = x + F.dropout(self.self_attention(self.norm_1(x), mask=mask), p)
            return x + F.dropout(self.feed_forward(self.norm_2(x)), p)
        x = self.norm_1(x + F.dropout(self.self_attention(x, mask=mask), p))
        return self.norm_2(x + F.dropout(self.feed_forward(x), p))


# %% wrong: makes the mask symmetric (mask and its transpose), so that a query also may not see the keys that may not see it; right for masks that are symmetric or all True
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        L = x.shape[1]
        mask = mask.expand(*mask.shape[:-2], L, L)
        mask = mask & mask.transpose(-2, -1)
        if self.pre_norm:
            x = x + self.dropout(self.self_attention(self.norm_1(x), mask=mask))
            return x + self.dropout(self.feed_forward(self.norm_2(x)))
        x = self.norm_1(x + self.dropout(self.self_attention(x, mask=mask)))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))


# %% right: a loop over the two pairs of norm and sublayer
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

        for norm, sublayer in zip((self.norm_1, self.norm_2), (attend, self.feed_forward)):
            y = norm(x) if self.pre_norm else x
            x = torch.add(x, self.dropout(sublayer(y)))
            x = x if self.pre_norm else norm(x)
        return x


# %% right: two small methods, pre and post, chosen by name; self-attention called with query, key and value
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        connect = getattr(self, "_pre" if self.pre_norm else "_post")
        middle = connect(x, self.norm_1, lambda y: self.self_attention(y, y, y, mask=mask))
        return connect(middle, self.norm_2, lambda y: self.feed_forward(y))

    def _pre(self, x, norm, sublayer):
        return self.dropout(sublayer(norm(x))) + x

    def _post(self, x, norm, sublayer):
        return norm(self.dropout(sublayer(x)) + x)
