# %% setup
import torch
import torch.nn.functional as F
from torch import nn
from course_utils import masks
from course_utils.layers import FeedForward, LayerNorm
from course_utils.multi_head import MultiHeadAttention


# %% wrong: in the pre-norm order the sum is taken with the normalized x instead of x
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


# %% wrong: dropout acts on the whole sum, not only on what the sublayer gives (shows only in training)
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return self.dropout(x + sublayer(self.norm(x)))
        return self.norm(self.dropout(x + sublayer(x)))


# %% wrong: F.dropout without the training flag, so dropout acts in evaluation mode too
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


# %% wrong: in the post-norm order adds to x in place, so the caller's tensor is changed (or an error if it is a leaf that needs a gradient)
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            y = self.dropout(sublayer(self.norm(x)))
            return x + y
        x += self.dropout(sublayer(x))
        return self.norm(x)


# %% two mistakes: the two orders are swapped (pre_norm=True gives post-norm); and dropout is forgotten
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if not self.pre_norm:
            return x + sublayer(self.norm(x))
        return self.norm(x + sublayer(x))


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


# %% right: norm called with F.layer_norm on its own parameters, sum with stack
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        def norm(y):
            n = self.norm
            return F.layer_norm(y, n.normalized_shape, n.weight, n.bias, n.eps)

        given = sublayer(norm(x) if self.pre_norm else x)
        total = torch.stack([x, self.dropout(given)]).sum(dim=0)
        return total if self.pre_norm else norm(total)
