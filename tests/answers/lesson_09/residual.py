# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: in the post-norm order norms the sublayer's result before the sum instead of the sum
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x)))
        return x + self.norm(self.dropout(sublayer(x)))

# %% wrong: in the post-norm order applies dropout to the sum, so x itself is dropped too
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(self.dropout(x + sublayer(x)))

# %% wrong: adds in place with +=, so the caller's x is changed (and a leaf that needs a gradient gives an error)
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        inner = self.norm(x) if self.pre_norm else x
        x += self.dropout(sublayer(inner))
        return x if self.pre_norm else self.norm(x)

# %% wrong: calls F.dropout without telling it the mode, so it drops numbers in evaluation as well
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return x + F.dropout(sublayer(self.norm(x)), self.dropout.p)
        return self.norm(x + F.dropout(sublayer(x), self.dropout.p))

# %% two mistakes: has the two orders exchanged; and leaves dropout out altogether
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return self.norm(x + sublayer(x))
        return x + sublayer(self.norm(x))

# %% right: one line for both orders with nn.Identity in the place of the norm that is not used
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        before, after = self.norm, nn.Identity()
        if not self.pre_norm:
            before, after = after, before
        return after(torch.add(x, self.dropout(sublayer(before(x)))))

# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% right: both orders in one line each with before and after functions
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        same = nn.Identity()
        before, after = (self.norm, same) if self.pre_norm else (same, self.norm)
        return after(torch.add(self.dropout(sublayer(before(x))), x))

# %% setup
import torch
from torch import nn

# %% wrong: in the pre-norm order the sum is normalized once more
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        y = self.norm(x) if self.pre_norm else x
        return self.norm(x + self.dropout(sublayer(y)))

# %% wrong: in the post-norm order dropout acts after the norm
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.dropout(self.norm(x + sublayer(x)))

# %% right: the branch in its own function
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def branch(self, y, sublayer):
        return self.dropout(sublayer(y))

    def forward(self, x, sublayer):
        given = self.branch(self.norm(x), sublayer) if self.pre_norm else self.branch(x, sublayer)
        return given + x if self.pre_norm else self.norm(given + x)
