# %% setup
import torch
from torch import nn

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

# %% wrong: in the pre-norm order nothing is added to, the direct path is missing
class Residual(nn.Module):
    def __init__(self, d_model, dropout, pre_norm):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pre_norm = pre_norm

    def forward(self, x, sublayer):
        if self.pre_norm:
            return self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))

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
