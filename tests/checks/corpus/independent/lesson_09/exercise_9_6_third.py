# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: in self-attention only the queries are normalized, keys and values are made of x as it is
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        h = x + self.dropout(self.self_attention(self.norm_1(x), x, x, mask=target_mask))
        h = h + self.dropout(self.cross_attention(self.norm_2(h), memory, memory, mask=memory_mask))
        return h + self.dropout(self.feed_forward(self.norm_3(h)))


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


# %% wrong: detaches the memory since the encoder is finished, so the output is right but no gradient reaches memory
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
        h = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        h = h + self.dropout(self.cross_attention(self.norm_2(h), memory, memory, mask=memory_mask))
        return h + self.dropout(self.feed_forward(self.norm_3(h)))


# %% wrong: cross-attention asks with the norm of the layer's input x instead of the result of self-attention
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        a = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        b = a + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=memory_mask))
        return b + self.dropout(self.feed_forward(self.norm_3(b)))


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


# %% right: keeps what each sublayer adds in a list and sums x and the list anew each time; self-attention called with query, key and value, masks spread to full size
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2, self.norm_3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, target_mask, memory_mask):
        B, L_t, L_s = x.shape[0], x.shape[1], memory.shape[1]
        added = [x]
        y = self.norm_1(x)
        added.append(self.dropout(self.self_attention(y, y, y, mask=target_mask.expand(B, 1, L_t, L_t))))
        y = self.norm_2(torch.stack(added).sum(dim=0))
        added.append(self.dropout(self.cross_attention(y, memory, memory, mask=memory_mask.expand(B, 1, L_t, L_s))))
        y = self.norm_3(torch.stack(added).sum(dim=0))
        added.append(self.dropout(self.feed_forward(y)))
        return torch.stack(added).sum(dim=0)
