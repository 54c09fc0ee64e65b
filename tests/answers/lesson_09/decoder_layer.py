# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


class Base(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.norm_3 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

# %% wrong: one cross-attention per memory, and the results added up
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        y = self.norm_2(x)
        total = 0
        for memory, mask in zip(memories, memory_masks):
            total = total + self.cross_attention(y, memory, memory, mask=mask)
        x = x + self.dropout(total)
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: asks one memory after the other, each with a residual connection and the stream of the one before
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        for memory, mask in zip(memories, memory_masks):
            x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: the mean of one cross-attention per memory
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        y = self.norm_2(x)
        asked = [self.cross_attention(y, m, m, mask=k) for m, k in zip(memories, memory_masks)]
        x = x + self.dropout(torch.stack(asked).mean(dim=0))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: the normalized tensor takes the name x, so it is on the direct path
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory = torch.cat(memories, dim=1)
        mask = torch.cat(memory_masks, dim=-1)
        x = self.norm_1(x)
        x = x + self.dropout(self.self_attention(x, x, x, mask=target_mask))
        x = self.norm_2(x)
        x = x + self.dropout(self.cross_attention(x, memory, memory, mask=mask))
        x = self.norm_3(x)
        return x + self.dropout(self.feed_forward(x))

# %% wrong: post-norm
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory = torch.cat(memories, dim=1)
        mask = torch.cat(memory_masks, dim=-1)
        x = self.norm_1(x + self.dropout(self.self_attention(x, x, x, mask=target_mask)))
        x = self.norm_2(x + self.dropout(self.cross_attention(x, memory, memory, mask=mask)))
        return self.norm_3(x + self.dropout(self.feed_forward(x)))

# %% wrong: normalizes the memory with norm 2 as well
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory = self.norm_2(torch.cat(memories, dim=1))
        mask = torch.cat(memory_masks, dim=-1)
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: no dropout on what the sublayers return
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory = torch.cat(memories, dim=1)
        mask = torch.cat(memory_masks, dim=-1)
        y = self.norm_1(x)
        x = x + self.self_attention(y, y, y, mask=target_mask)
        x = x + self.cross_attention(self.norm_2(x), memory, memory, mask=mask)
        return x + self.feed_forward(self.norm_3(x))

# %% wrong: dropout on the sum, so it acts on the direct path too
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory = torch.cat(memories, dim=1)
        mask = torch.cat(memory_masks, dim=-1)
        y = self.norm_1(x)
        x = self.dropout(x + self.self_attention(y, y, y, mask=target_mask))
        x = self.dropout(x + self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        return self.dropout(x + self.feed_forward(self.norm_3(x)))

# %% wrong: no mask in the cross-attention, so padding of the sources is read
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory = torch.cat(memories, dim=1)
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: the self-attention has no mask
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = torch.cat(memories, dim=1), torch.cat(memory_masks, dim=3)
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: joins the masks along the queries' axis, which does not fit as the memories have different lengths
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory = torch.cat(memories, dim=1)
        mask = torch.cat(memory_masks, dim=2)
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: the cross-attention's query is not normalized
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = torch.cat(memories, dim=1), torch.cat(memory_masks, dim=-1)
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        x = x + self.dropout(self.cross_attention(x, memory, memory, mask=mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: norm 2 before the network and norm 3 before the cross-attention
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = torch.cat(memories, dim=1), torch.cat(memory_masks, dim=-1)
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_3(x), memory, memory, mask=mask))
        return x + self.dropout(self.feed_forward(self.norm_2(x)))

# %% wrong: writes into the caller's x
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = torch.cat(memories, dim=1), torch.cat(memory_masks, dim=-1)
        y = self.norm_1(x)
        x += self.dropout(self.self_attention(y, y, y, mask=target_mask))
        x += self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        x += self.dropout(self.feed_forward(self.norm_3(x)))
        return x

# %% wrong: no residual connection around the network
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = torch.cat(memories, dim=1), torch.cat(memory_masks, dim=-1)
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        return self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: asks the first memory only
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        y = self.norm_2(x)
        x = x + self.dropout(self.cross_attention(y, memories[0], memories[0], mask=memory_masks[0]))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% wrong: cross-attention and network read the x that came in, so the sublayers stand side by side
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = torch.cat(memories, dim=1), torch.cat(memory_masks, dim=-1)
        y = self.norm_1(x)
        a = self.dropout(self.self_attention(y, y, y, mask=target_mask))
        b = self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        c = self.dropout(self.feed_forward(self.norm_3(x)))
        return x + a + b + c

# %% two mistakes: one cross-attention per memory added up, and no memory masks
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        y = self.norm_2(x)
        x = x + self.dropout(sum(self.cross_attention(y, m, m) for m in memories))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))

# %% two mistakes: post-norm, and the memory normalized
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory = self.norm_2(torch.cat(memories, dim=1))
        mask = torch.cat(memory_masks, dim=-1)
        x = self.norm_1(x + self.dropout(self.self_attention(x, x, x, mask=target_mask)))
        x = self.norm_2(x + self.dropout(self.cross_attention(x, memory, memory, mask=mask)))
        return self.norm_3(x + self.dropout(self.feed_forward(x)))

# %% two mistakes: only the first memory is asked; and what the network gives is not dropped
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = memories[0], memory_masks[0]
        x = x + self.dropout(self.self_attention(self.norm_1(x), mask=target_mask))
        x = x + self.dropout(self.cross_attention(self.norm_2(x), memory, memory, mask=mask))
        return x + self.feed_forward(self.norm_3(x))

# %% right: the last memory first, since attention does not care about the order of its keys
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory = torch.cat(memories[::-1], dim=1)
        mask = torch.cat(memory_masks[::-1], dim=-1)
        y = self.norm_1(x)
        x = x + self.dropout(self.self_attention(y, y, y, mask=target_mask))
        y = self.norm_2(x)
        x = x + self.dropout(self.cross_attention(y, memory, memory, mask=mask))
        y = self.norm_3(x)
        return x + self.dropout(self.feed_forward(y))

# %% right: a loop over pairs of norm and sublayer
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        memory, mask = torch.cat(list(memories), 1), torch.cat(list(memory_masks), 3)
        steps = [
            (self.norm_1, lambda y: self.self_attention(y, y, y, mask=target_mask)),
            (self.norm_2, lambda y: self.cross_attention(y, memory, memory, mask=mask)),
            (self.norm_3, self.feed_forward),
        ]
        for norm, sublayer in steps:
            x = torch.add(x, self.dropout(sublayer(norm(x))))
        return x

# %% right: copies the memories into one long tensor, with a hidden row at its end
class DecoderLayer(Base):
    def forward(self, x, memories, target_mask, memory_masks):
        length = sum(m.shape[1] for m in memories) + 1
        memory = x.new_zeros(x.shape[0], length, x.shape[2])
        mask = torch.zeros(x.shape[0], 1, 1, length, dtype=torch.bool)
        at = 0
        for m, k in zip(memories, memory_masks):
            memory[:, at : at + m.shape[1]] = m
            mask[..., at : at + m.shape[1]] = k
            at += m.shape[1]
        normed = self.norm_1(x)
        first = x + self.dropout(self.self_attention(normed, normed, normed, mask=target_mask))
        asked = self.cross_attention(self.norm_2(first), memory, memory, mask=mask)
        second = first + self.dropout(asked)
        return second + self.dropout(self.feed_forward(self.norm_3(second)))
