# %% setup
import torch
from torch import nn
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


class Parts(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.norm_3 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

# %% wrong: asks each memory by itself and adds the answers
class DecoderLayer(Parts):
    def forward(self, x, memories, target_mask, memory_masks):
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        y, found = self.norm_2(x), 0
        for memory, mask in zip(memories, memory_masks):
            found = found + self.cross_attention(y, memory, memory, mask=mask)
        x = x + self.dropout(found)
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: asks one memory after the other, in residual connections of their own
class DecoderLayer(Parts):
    def forward(self, x, memories, target_mask, memory_masks):
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        for memory, mask in zip(memories, memory_masks):
            x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: puts the memories together and forgets their masks
class DecoderLayer(Parts):
    def forward(self, x, memories, target_mask, memory_masks):
        memory = torch.cat(memories, dim=1)
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: post-norm
class DecoderLayer(Parts):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = torch.cat(memories, 1), torch.cat(memory_masks, -1)
        x = self.norm_1(x + self.dropout(self.self_attention(x, mask=target_mask)))
        x = self.norm_2(x + self.dropout(self.cross_attention(x, memory, memory, mask=mask)))
        return self.norm_3(x + self.dropout(self.feed_forward(x)))

# %% wrong: the direct path goes through the norms
class DecoderLayer(Parts):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = torch.cat(memories, 1), torch.cat(memory_masks, -1)
        x = self.norm_1(x)
        x = x + self.dropout(self.self_attention(x, mask=target_mask))
        x = self.norm_2(x)
        x = x + self.dropout(self.cross_attention(x, memory, memory, mask=mask))
        x = self.norm_3(x)
        return x + self.dropout(self.feed_forward(x))

# %% two mistakes: only the first memory is asked; and what the network gives is not dropped
class DecoderLayer(Parts):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = memories[0], memory_masks[0]
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        return x + self.feed_forward(self.norm_3(x))

# %% right: a helper for the connection
class DecoderLayer(Parts):
    def around(self, x, norm, sublayer):
        return x + self.dropout(sublayer(norm(x)))

    def forward(self, x, memories, target_mask, memory_masks):
        keys, seen = torch.cat(list(memories), dim=-2), torch.cat(list(memory_masks), dim=3)
        x = self.around(x, self.norm_1, lambda y: self.self_attention(y, y, y, mask=target_mask))
        x = self.around(x, self.norm_2, lambda y: self.cross_attention(y, keys, keys, mask=seen))
        return self.around(x, self.norm_3, self.feed_forward)

# %% right: the memories in the opposite order, with their masks
class DecoderLayer(Parts):
    def forward(self, x, memories, target_mask, memory_masks):
        keys = torch.cat(memories[::-1], dim=1)
        seen = torch.cat(memory_masks[::-1], dim=-1)
        change = self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        x = x + change
        change = self.dropout(self.cross_attention(self.norm_2(x), keys, keys, mask=seen))
        x = x + change
        return x + self.dropout(self.feed_forward(self.norm_3(x)))
