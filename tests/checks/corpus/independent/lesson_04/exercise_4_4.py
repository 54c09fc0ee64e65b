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

# %% wrong: nothing is changed: the scale still comes from the values
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        B, L, d = value.shape
        scores = query @ key.transpose(-2, -1)
        return torch.softmax(scores / d**0.5, dim=-1) @ value

# %% wrong: takes the scale from the width of x
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        B, L, d = x.shape
        scores = query @ key.transpose(-2, -1)
        return torch.softmax(scores / d**0.5, dim=-1) @ value

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

# %% wrong: blames the softmax and moves it to the queries
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        return torch.softmax(scores, dim=-2) @ value

# %% wrong: divides by the size of the query, not by its root
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return torch.softmax(query @ key.transpose(1, 2) / query.shape[-1], dim=2) @ value

# %% two mistakes: the scale of the values stays; and the weights are handed back too
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        weights = torch.softmax(query @ key.transpose(-2, -1) / value.shape[-1] ** 0.5, dim=-1)
        return weights @ value, weights

# %% two mistakes: the scale comes from the width of x; and the softmax runs over the queries
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return torch.softmax(query @ key.transpose(-2, -1) / x.shape[-1] ** 0.5, dim=1) @ value

# %% right: the scale from the key projection, on the query before the product
class SelfAttention(Given):
    def forward(self, x):
        query = self.q_proj(x) * self.k_proj.out_features**-0.5
        scores = torch.einsum("bqd,bkd->bqk", query, self.k_proj(x))
        return torch.bmm(F.softmax(scores, dim=-1), self.v_proj(x))

# %% wrong: PyTorch's own function, which is off limits here
class SelfAttention(Given):
    def forward(self, x):
        return F.scaled_dot_product_attention(self.q_proj(x), self.k_proj(x), self.v_proj(x))

# %% right: token by token, with exponentials relative to the largest score
class SelfAttention(Given):
    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        rows = []
        for i in range(x.shape[1]):
            scores = (key * query[:, i : i + 1]).sum(-1) / key.shape[-1] ** 0.5
            powers = (scores - scores.max(dim=1, keepdim=True).values).exp()
            rows.append((powers[..., None] * value).sum(1) / powers.sum(1, keepdim=True))
        return torch.stack(rows, dim=1)
