# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: makes the values with q_proj instead of v_proj
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.q_proj(x)
        return F.scaled_dot_product_attention(query, key, value)

# %% wrong: scales twice: divides the query by sqrt(d_k), and PyTorch's function does it once more
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        query = query / query.shape[-1] ** 0.5
        return F.scaled_dot_product_attention(query, key, value)

# %% wrong: uses only the weight of v_proj and forgets its bias
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

# %% wrong: computes the weights under torch.no_grad, so no gradient reaches q_proj and k_proj
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        with torch.no_grad():
            query, key = self.q_proj(x), self.k_proj(x)
            weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
        return weights @ self.v_proj(x)

# %% wrong: squeezes the output after adding a head axis, so a batch of 1 (or one token, or d_v of 1) loses its axis
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query = self.q_proj(x).unsqueeze(1)  # one head
        key = self.k_proj(x).unsqueeze(1)
        value = self.v_proj(x).unsqueeze(1)
        return F.scaled_dot_product_attention(query, key, value).squeeze()

# %% wrong: query and key have changed places in the call, so k_proj makes the queries and q_proj the keys
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return F.scaled_dot_product_attention(k, q, v)

# %% two mistakes: attends causally although nothing asks for it; and passes a scale of 1, so the scores are not divided by sqrt(d_k)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=1.0)

# %% right: calls the own attention of 4.2 and drops the weights
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        return attention(self.q_proj(x), self.k_proj(x), self.v_proj(x))[0]

# %% right: one fused product with the three weights put together at each call, then einsum
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        layers = [self.q_proj, self.k_proj, self.v_proj]
        W = torch.cat([layer.weight for layer in layers])
        b = torch.cat([layer.bias for layer in layers])
        q, k, v = F.linear(x, W, b).split([layer.out_features for layer in layers], dim=-1)
        weights = torch.einsum("bie,bje->bij", q, k).div(self.q_proj.out_features**0.5).softmax(-1)
        return torch.einsum("bij,bjv->biv", weights, v)

# %% right: averages the tokens first and applies v_proj to the averages, which is the same since each row of weights sums to 1
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        mixed = F.scaled_dot_product_attention(self.q_proj(x), self.k_proj(x), x)
        return self.v_proj(mixed)
