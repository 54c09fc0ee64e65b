# %% setup
import torch
import torch.nn.functional as F
from torch import nn


class BrokenSelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_k)
        self.k_proj = nn.Linear(d_model, d_k)
        self.v_proj = nn.Linear(d_model, d_v)

    def forward(self, x):
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        batch, size = query.shape[:2]
        divided = {"scale": 1 / size**0.5}  # what the scores are multiplied by
        return F.scaled_dot_product_attention(query, key, value, **divided)


def agrees_with_pytorch(layer, x):
    query, key, value = layer.q_proj(x), layer.k_proj(x), layer.v_proj(x)
    right = F.scaled_dot_product_attention(query, key, value)
    return torch.allclose(layer(x), right, atol=1e-6)

# %% wrong: forgets that a single token has the weight 1 whatever its score
def verdict(B, L, d_model, d_k, d_v):
    if L > d_k:
        return "too even"
    if L < d_k:
        return "too sharp"
    return "right"

# %% wrong: swaps the two names
def verdict(B, L, d_model, d_k, d_v):
    if L == d_k or L == 1:
        return "right"
    return "too sharp" if L > d_k else "too even"

# %% wrong: takes size for the batch
def verdict(B, L, d_model, d_k, d_v):
    if B == d_k or L == 1:
        return "right"
    return "too even" if B > d_k else "too sharp"

# %% wrong: compares the length with d_model where it should be d_k
def verdict(B, L, d_model, d_k, d_v):
    if L == d_model or L == 1:
        return "right"
    return "too even" if L > d_model else "too sharp"

# %% wrong: compares the length with d_v where it should be d_k
def verdict(B, L, d_model, d_k, d_v):
    if L in (1, d_v):
        return "right"
    return "too even" if L > d_v else "too sharp"

# %% wrong: takes size for d_model
def verdict(B, L, d_model, d_k, d_v):
    if d_model == d_k or L == 1:
        return "right"
    return "too even" if d_model > d_k else "too sharp"

# %% wrong: takes a batch of one for the harmless case, not a length of one
def verdict(B, L, d_model, d_k, d_v):
    if B == 1 or L == d_k:
        return "right"
    return "too even" if L > d_k else "too sharp"

# %% wrong: says right only if all sizes but the batch are alike, or the length is 1
def verdict(B, L, d_model, d_k, d_v):
    if L == 1 or L == d_model == d_k == d_v:
        return "right"
    return "too even" if L >= d_k else "too sharp"

# %% wrong: takes size for all tokens of the batch, B * L
def verdict(B, L, d_model, d_k, d_v):
    if L == 1 or B * L == d_k:
        return "right"
    return "too even" if B * L > d_k else "too sharp"

# %% wrong: thinks that d_k of 1 is the harmless case
def verdict(B, L, d_model, d_k, d_v):
    if d_k == 1 or L == d_k:
        return "right"
    return "too even" if L > d_k else "too sharp"

# %% two mistakes: swaps the two names; and forgets the length of 1
def verdict(B, L, d_model, d_k, d_v):
    if L == d_k:
        return "right"
    return "too even" if L < d_k else "too sharp"

# %% two mistakes: compares with d_model where it should be d_k; and forgets the length of 1
def verdict(B, L, d_model, d_k, d_v):
    if L == d_model:
        return "right"
    return "too even" if L > d_model else "too sharp"

# %% right: looks the sign up in a tuple
def verdict(B, L, d_model, d_k, d_v):
    sign = (L > d_k) - (L < d_k) if L > 1 else 0
    return ("right", "too even", "too sharp")[sign]

# %% right: builds the layer and compares the spread of its weights with that of the right ones
def verdict(B, L, d_model, d_k, d_v):
    torch.manual_seed(1)
    layer, x = BrokenSelfAttention(d_model, d_k, d_v).double(), torch.randn(B, L, d_model).double()
    q, k = layer.q_proj(x), layer.k_proj(x)
    scores = q @ k.mT
    right = (scores / d_k**0.5).softmax(dim=-1)
    size = scores.shape[1]
    used = (scores / size**0.5).softmax(dim=-1)
    difference = (used.square().sum() - right.square().sum()).item()
    if abs(difference) < 1e-12:
        return "right"
    return "too sharp" if difference > 0 else "too even"

# %% right: from the two divisors
def verdict(B, L, d_model, d_k, d_v):
    used, needed = L**0.5, d_k**0.5
    if L <= 1:
        return "right"
    if used > needed:
        return "too even"
    if needed > used:
        return "too sharp"
    return "right"
