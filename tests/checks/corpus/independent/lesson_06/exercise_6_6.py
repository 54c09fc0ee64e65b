# %% setup
import torch

from course_utils.attention import masked_softmax


def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, d_model // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).reshape(B, L, H * d_head)

# %% wrong: exchanges the last two axes before the reshape instead of heads and tokens
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    scores = heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    mixed = weights @ heads
    return mixed.transpose(2, 3).reshape(B, L, d_model), weights

# %% wrong: merges the heads interleaved, feature 0 of all heads first
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    weights = torch.softmax(heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5, dim=-1)
    mixed = weights @ heads
    return mixed.permute(0, 2, 3, 1).reshape(B, L, d_model), weights

# %% wrong: mends the merge by leaving out the transpose of the split too: the input is viewed as (B, H, L, d_head) and mixes tokens
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.reshape(B, num_heads, L, d_model // num_heads)
    scores = heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    mixed = weights @ heads
    return mixed.reshape(B, L, d_model), weights

# %% wrong: the merge is right, but the scores are divided by sqrt(d_model) instead of sqrt(d_head)
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    scores = heads @ heads.transpose(-2, -1) / d_model**0.5
    weights = torch.softmax(scores, dim=-1)
    mixed = weights @ heads
    return mixed.transpose(1, 2).reshape(B, L, d_model), weights

# %% wrong: calls view after the transpose, which stops with an error as soon as there are several heads and tokens
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    scores = heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    mixed = (weights @ heads).transpose(1, 2)
    return mixed.view(B, L, d_model), weights

# %% wrong: puts only the first and the last head side by side, right for two heads, with more the others are dropped and with one it stands twice
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    scores = heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    mixed = weights @ heads
    return torch.cat([mixed[:, 0], mixed[:, -1]], dim=-1), weights

# %% two mistakes: takes the softmax over the queries (axis -2); and returns the weights averaged over the heads
def self_attention(x, num_heads):
    B, L, d_model = x.shape
    heads = x.view(B, L, num_heads, d_model // num_heads).transpose(1, 2)
    scores = heads @ heads.transpose(-2, -1) / heads.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-2)
    mixed = (weights @ heads).transpose(1, 2)
    return mixed.reshape(B, L, d_model), weights.mean(dim=1)

# %% right: tokens before heads throughout, with einsum
def self_attention(x, num_heads):
    heads = x.unflatten(-1, (num_heads, -1))  # (B, L, H, d_head)
    scores = torch.einsum("bqhd,bkhd->bhqk", heads, heads) / heads.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, heads).flatten(2), weights

# %% right: a loop over the heads, the parts put side by side
def self_attention(x, num_heads):
    outputs, all_weights = [], []
    for part in x.chunk(num_heads, dim=-1):
        w = torch.softmax(torch.bmm(part, part.transpose(1, 2)) / part.shape[-1] ** 0.5, dim=-1)
        all_weights.append(w)
        outputs.append(torch.bmm(w, part))
    return torch.cat(outputs, dim=-1), torch.stack(all_weights, dim=1)

# %% right: no softmax function but exponentials with each row's maximum taken off, own split and merge of 6.1 and 6.2
def self_attention(x, num_heads):
    heads = split_heads(x, num_heads)
    scores = heads @ heads.mT * heads.shape[-1] ** -0.5
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = e / e.sum(dim=-1, keepdim=True)
    return merge_heads(weights @ heads), weights
