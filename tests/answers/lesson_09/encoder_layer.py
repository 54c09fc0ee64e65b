# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: uses norm_2 around the attention and norm_1 around the network
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
            x = x + self.dropout(self.self_attention(self.norm_2(x), mask=mask))
            return x + self.dropout(self.feed_forward(self.norm_1(x)))
        x = self.norm_2(x + self.dropout(self.self_attention(x, mask=mask)))
        return self.norm_1(x + self.dropout(self.feed_forward(x)))

# %% wrong: adds in place with +=, so a pre-norm layer changes the caller's x
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
            x += self.dropout(self.self_attention(self.norm_1(x), mask=mask))
            x += self.dropout(self.feed_forward(self.norm_2(x)))
            return x
        x = self.norm_1(x + self.dropout(self.self_attention(x, mask=mask)))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))

# %% wrong: in the pre-norm order norms only the queries, keys and values come from x without the norm
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
            x = x + self.dropout(self.self_attention(self.norm_1(x), x, x, mask=mask))
            return x + self.dropout(self.feed_forward(self.norm_2(x)))
        x = self.norm_1(x + self.dropout(self.self_attention(x, mask=mask)))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))

# %% wrong: in the post-norm order forgets to add x around the feed-forward network
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
        x = self.norm_1(x + self.dropout(self.self_attention(x, mask=mask)))
        return self.norm_2(self.dropout(self.feed_forward(x)))

# %% two mistakes: does not hand the mask to the attention; and in the pre-norm order adds the attention to the normed x instead of to x
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
            x = self.norm_1(x)
            x = x + self.dropout(self.self_attention(x))
            return x + self.dropout(self.feed_forward(self.norm_2(x)))
        x = self.norm_1(x + self.dropout(self.self_attention(x)))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))

# %% right: four optional norms, each a function that does nothing where the order does not call for it
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        def use(norm, wanted):
            return norm if wanted else (lambda y: y)

        before_1, after_1 = use(self.norm_1, self.pre_norm), use(self.norm_1, not self.pre_norm)
        before_2, after_2 = use(self.norm_2, self.pre_norm), use(self.norm_2, not self.pre_norm)
        x = after_1(x + self.dropout(self.self_attention(before_1(x), mask=mask)))
        return after_2(x + self.dropout(self.feed_forward(before_2(x))))

# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

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

# %% setup
import torch
from torch import nn
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% right: norms before and after chosen by a factor, the sum by torch.add
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        for norm, f in ((self.norm_1, self.attend), (self.norm_2, lambda y, _: self.feed_forward(y))):
            total = torch.add(x, self.dropout(f(norm(x) if self.pre_norm else x, mask)))
            x = total if self.pre_norm else norm(total)
        return x

    def attend(self, y, mask):
        return self.self_attention(y, y, y, mask=mask)

# %% right: a small method of its own, called twice
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout, pre_norm):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout)
        self.norm_1, self.norm_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, mask):
        x = self.around(x, self.norm_1, lambda y: self.self_attention(y, mask=mask))
        return self.around(x, self.norm_2, self.feed_forward)

    def around(self, x, norm, part):
        added = self.dropout(part(norm(x) if self.pre_norm else x))
        return added + x if self.pre_norm else norm(added + x)
