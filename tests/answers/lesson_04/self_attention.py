# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn


class Given(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

# %% wrong: takes the number of tokens for the size
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(1))
        return scores.softmax(-1) @ value

# %% wrong: drops the scale altogether
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return (query @ key.transpose(-2, -1)).softmax(-1) @ value

# %% wrong: divides by the size of the query, not by its root
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return torch.softmax(query @ key.transpose(1, 2) / query.shape[-1], dim=2) @ value

# %% two mistakes: the scale comes from the width of x; and the softmax runs over the queries
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return torch.softmax(query @ key.transpose(-2, -1) / x.shape[-1] ** 0.5, dim=1) @ value

# %% wrong: PyTorch's own function, which is off limits here
class SelfAttention(Given):
    def forward(self, x):
        return F.scaled_dot_product_attention(self.q_proj(x), self.k_proj(x), self.v_proj(x))

# %% setup
import math

import torch
import torch.nn.functional as F
from torch import nn


class _Layers(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

# %% wrong: projects the values with no bias
class SelfAttention(_Layers):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), x @ self.v_proj.weight.T
        return torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, dim=-1) @ value

# %% right: bmm, and the scale taken from the layer's own size
class SelfAttention(_Layers):
    def forward(self, x):
        query = self.q_proj(x) / math.sqrt(self.q_proj.out_features)
        scores = torch.bmm(query, self.k_proj(x).permute(0, 2, 1))
        return torch.bmm(scores.softmax(2), self.v_proj(x))

# %% right: baddbmm with alpha as the scale, the softmax by hand
class SelfAttention(_Layers):
    def forward(self, x):
        query, key = self.q_proj(x), self.k_proj(x)
        scores = torch.baddbmm(x.new_zeros(1), query, key.mT, alpha=key.shape[2] ** -0.5)
        e = torch.exp(scores - scores.amax(2, keepdim=True).detach())
        return e / e.sum(2, keepdim=True) @ self.v_proj(x)

# %% right: one sequence after another
class SelfAttention(_Layers):
    def forward(self, x):
        rows = []
        for one in x:
            q, k, v = (part(one) for part in (self.q_proj, self.k_proj, self.v_proj))
            rows.append(F.softmax(torch.einsum("id,jd->ij", q, k) * k.size(1) ** -0.5, 1) @ v)
        return torch.stack(rows)
