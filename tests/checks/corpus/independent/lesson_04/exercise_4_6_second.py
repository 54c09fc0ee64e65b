# %% setup
import torch
import torch.nn.functional as F
from torch import nn

# %% wrong: forgets the bias of v_proj, which shows only when that bias is not zero
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key = self.q_proj(x), self.k_proj(x)
        value = x @ self.v_proj.weight.T
        return F.scaled_dot_product_attention(query, key, value)

# %% wrong: swaps queries and keys, so the keys ask and the queries are asked
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return F.scaled_dot_product_attention(key, query, value)

# %% wrong: computes the weights without gradients, so none reach q_proj and k_proj
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        with torch.no_grad():
            query, key = self.q_proj(x), self.k_proj(x)
            weights = torch.softmax(query @ key.transpose(1, 2) / query.shape[-1] ** 0.5, dim=-1)
        return weights @ self.v_proj(x)

# %% wrong: scales the scores by the root of d_v instead of d_k
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        scores = query @ key.transpose(-2, -1) / value.shape[-1] ** 0.5
        return torch.softmax(scores, dim=-1) @ value

# %% right: the three layers are joined to one matrix for a single product, and the softmax is written out
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        layers = [self.q_proj, self.k_proj, self.v_proj]
        weight = torch.cat([layer.weight for layer in layers])
        bias = torch.cat([layer.bias for layer in layers])
        query, key, value = F.linear(x, weight, bias).split([layer.out_features for layer in layers], dim=-1)
        scores = torch.einsum("bqd,bkd->bqk", query, key) / query.shape[-1] ** 0.5
        return torch.einsum("bqk,bkv->bqv", scores.softmax(-1), value)

# %% right: an extra axis for one head and the scale put into the query, with scale=1.0 for PyTorch's function
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def heads(self, layer, x):
        return layer(x).unsqueeze(1)

    def forward(self, x):
        query = self.heads(self.q_proj, x) * self.q_proj.out_features**-0.5
        key, value = self.heads(self.k_proj, x), self.heads(self.v_proj, x)
        return F.scaled_dot_product_attention(query, key, value, scale=1.0).squeeze(1)
