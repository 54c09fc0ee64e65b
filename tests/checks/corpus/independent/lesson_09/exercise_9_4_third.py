# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: drops by F.dropout with the probability only, whose training argument is True by default, so it drops in eval mode too
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        p = self.dropout.p
        if self.pre_norm:
            return x + F.dropout(sublayer(self.norm(x)), p)
        return self.norm(x + F.dropout(sublayer(x), p))


# %% wrong: normalizes by F.layer_norm without the norm's own weight and bias, so its numbers and gradients are missing; the output is right for a fresh norm
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            y = F.layer_norm(x, x.shape[-1:])
            return x + self.dropout(sublayer(y))
        y = x + self.dropout(sublayer(x))
        return F.layer_norm(y, y.shape[-1:])


# %% wrong: adds x in place to what the sublayer gave; without dropout this overwrites x itself where the sublayer hands its input back in post-norm, and breaks the gradient of sublayers such as torch.tanh
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        y = sublayer(self.norm(x)) if self.pre_norm else sublayer(x)
        y = self.dropout(y)
        y += x
        return y if self.pre_norm else self.norm(y)


# %% wrong: in pre-norm drops what goes into the sublayer instead of what comes out of it, the same in eval mode
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return x + sublayer(self.dropout(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


# %% two mistakes: in post-norm normalizes what the sublayer gives and not the sum; and in pre-norm drops the input of the sublayer instead of its output
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return x + sublayer(self.dropout(self.norm(x)))
        return x + self.norm(self.dropout(sublayer(x)))


# %% right: one formula for both orders, with an nn.Identity in the place where no norm stands
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        nothing = nn.Identity()
        before, after = (self.norm, nothing) if self.pre_norm else (nothing, self.norm)
        return after(torch.add(x, self.dropout(sublayer(before(x)))))


# %% right: stacks the two paths and sums them by einsum, norm written out by hand with the numbers of self.norm
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        def normalize(z):
            variance, mean = torch.var_mean(z, dim=-1, correction=0, keepdim=True)
            return (z - mean) * (variance + self.norm.eps).rsqrt() * self.norm.weight + self.norm.bias

        inner = normalize(x) if self.pre_norm else x
        paths = torch.stack([x, self.dropout(sublayer(inner))], dim=0)
        total = torch.einsum("pbld->bld", paths)
        return total if self.pre_norm else normalize(total)
