# %% setup
import torch
import torch.nn.functional as F
from torch import nn


# %% wrong: divides the queries by the root of d_k although PyTorch's function scales too, so the scores are scaled twice
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return F.scaled_dot_product_attention(query / query.shape[-1] ** 0.5, key, value)


# %% wrong: multiplies with the weight of v_proj by hand and leaves out its bias
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


# %% wrong: makes queries and keys under no_grad, so the output is right but no gradient reaches q_proj and k_proj
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        with torch.no_grad():
            query, key = self.q_proj(x), self.k_proj(x)
        return F.scaled_dot_product_attention(query, key, self.v_proj(x))


# %% wrong: gives PyTorch's function the scale 1 / root of d_v instead of 1 / root of d_k, the same only if the two are equal
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return F.scaled_dot_product_attention(query, key, value, scale=value.shape[-1] ** -0.5)


# %% right: one fused linear projection with the three weights and biases stacked, then attention by einsum
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        layers = (self.q_proj, self.k_proj, self.v_proj)
        fused = F.linear(x, torch.cat([m.weight for m in layers]), torch.cat([m.bias for m in layers]))
        query, key, value = fused.split([m.out_features for m in layers], dim=-1)
        scores = torch.einsum("bid,bjd->bij", query, key) / self.q_proj.out_features**0.5
        return torch.einsum("bij,bjv->biv", scores.softmax(dim=-1), value)


# %% right: averages the tokens with the weights first and applies v_proj to the averages (the weights sum to 1, so the bias comes in once)
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        scores = torch.baddbmm(x.new_zeros(1), self.q_proj(x), self.k_proj(x).mT, beta=0, alpha=self.k_proj.out_features**-0.5)
        return self.v_proj(torch.bmm(scores.softmax(2), x))
