# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.attention import masked_softmax

# %% wrong: deals the features out to the heads in turns and merges them back the same way, so equal tokens stay equal but each head holds the wrong features
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.reshape(B, L, d_model // num_heads, num_heads).permute(0, 3, 1, 2)
    weights = torch.softmax(heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5, dim=-1)
    mixed = weights @ heads
    return mixed.permute(0, 2, 3, 1).reshape(B, L, d_model), weights

# %% wrong: scales by the root of d_model instead of the size of one head
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    weights = torch.softmax(heads @ heads.transpose(-2, -1) / d_model**0.5, dim=-1)
    return (weights @ heads).transpose(1, 2).reshape(B, L, d_model), weights

# %% wrong: splits with a plain view as (B, H, L, d_head) and merges with the inverse view, so pieces of different tokens are mixed in a head
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.reshape(B, num_heads, L, d_model // num_heads)
    scores = heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    mixed = weights @ heads
    return mixed.reshape(B, L, d_model), weights

# %% wrong: the scores are made from detached heads, so the gradient through the weights is missing
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    fixed = heads.detach()
    weights = torch.softmax(fixed @ fixed.transpose(-2, -1) / heads.shape[-1] ** 0.5, dim=-1)
    mixed = (weights @ heads).transpose(1, 2)
    return mixed.reshape(B, L, d_model), weights

# %% right: einsum in the layout (B, L, H, d_head), no transpose
def self_attention(x, num_heads):
    heads = x.unflatten(-1, (num_heads, -1))
    scores = torch.einsum("bqhd,bkhd->bhqk", heads, heads) / heads.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, heads).flatten(2), weights

# %% right: a loop over blocks of features, concatenated and stacked at the end
def self_attention(x, num_heads):
    outputs, weights = [], []
    for part in x.chunk(num_heads, dim=-1):
        scores = torch.bmm(part, part.mT) * part.shape[-1] ** -0.5
        w = scores.softmax(dim=-1)
        weights.append(w)
        outputs.append(w @ part)
    return torch.cat(outputs, dim=-1), torch.stack(weights, dim=1)
