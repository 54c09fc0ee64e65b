# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention

# %% wrong: in the pre-norm order adds the sublayer's result to the normed x instead of to x itself
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            x = self.norm(x)
            return x + self.dropout(sublayer(x))
        return self.norm(x + self.dropout(sublayer(x)))


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


# %% wrong: applies dropout to what goes into the sublayer instead of to what it gives
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return x + sublayer(self.dropout(self.norm(x)))
        return self.norm(x + sublayer(self.dropout(x)))


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


# %% right: the norm written out by hand from its parameters, F.dropout with the mode handed over
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def _normed(self, x):
        return F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, self.norm.eps)

    def forward(self, x, sublayer):
        change = sublayer(self._normed(x) if self.pre_norm else x)
        total = F.dropout(change, p=self.dropout.p, training=self.training) + x
        return total if self.pre_norm else self._normed(total)


# %% right: builds a list of steps and runs it
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        branch = [self.norm] * bool(self.pre_norm) + [sublayer, self.dropout]
        y = x
        for step in branch:
            y = step(y)
        y = torch.stack([x, y]).sum(dim=0)
        return y if self.pre_norm else self.norm(y)
