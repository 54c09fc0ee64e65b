# %% setup
import torch

from course_utils.attention import masked_softmax


def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, d_model // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).reshape(B, L, H * d_head)

# %% right: einsum with parameters seen as (H, d_head, d_in), no split and merge, weights by torch.softmax
def multi_head_attention(query, memory, params, num_heads, mask):
    def project(x, name):
        weight = params[f"{name}.weight"].unflatten(0, (num_heads, -1))
        bias = params[f"{name}.bias"].unflatten(0, (num_heads, -1))
        return torch.einsum("bli,hdi->bhld", x, weight) + bias[:, None, :]

    q, k, v = project(query, "q_proj"), project(memory, "k_proj"), project(memory, "v_proj")
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, float("-inf"))
    weights = scores.softmax(dim=-1)
    W_o = params["o_proj.weight"].unflatten(1, (num_heads, -1))
    return torch.einsum("bhqk,bhkd,ihd->bqi", weights, v, W_o) + params["o_proj.bias"], weights

# %% setup
import torch
import torch.nn.functional as F
from torch import nn

from course_utils.attention import masked_softmax


def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, d_model // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).reshape(B, L, H * d_head)

# %% wrong: returns the weights averaged over the heads, shape (B, L_q, L_k), as PyTorch's module does; the output is right
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(query @ params["q_proj.weight"].T + params["q_proj.bias"], num_heads)
    k = split_heads(memory @ params["k_proj.weight"].T + params["k_proj.bias"], num_heads)
    v = split_heads(memory @ params["v_proj.weight"].T + params["v_proj.bias"], num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    output = merge_heads(weights @ v) @ params["o_proj.weight"].T + params["o_proj.bias"]
    return output, weights.mean(dim=1)

# %% setup
import torch
from torch import nn
from torch.nn.functional import linear

from course_utils.attention import masked_softmax


def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, d_model // num_heads).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)

# %% wrong: pops the parameters out of the dict while it uses them, so the caller's dict is empty afterwards
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(linear(query, params.pop("q_proj.weight"), params.pop("q_proj.bias")), num_heads)
    k = split_heads(linear(memory, params.pop("k_proj.weight"), params.pop("k_proj.bias")), num_heads)
    v = split_heads(linear(memory, params.pop("v_proj.weight"), params.pop("v_proj.bias")), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    return linear(merge_heads(weights @ v), params.pop("o_proj.weight"), params.pop("o_proj.bias")), weights

# %% right: one head at a time with its rows of the projections and its columns of the output matrix, the outputs added up and the bias added once
def multi_head_attention(query, memory, params, num_heads, mask):
    B, L_q, L_k = query.shape[0], query.shape[1], memory.shape[1]
    d_head = params["q_proj.weight"].shape[0] // num_heads
    if mask is None:
        mask = torch.ones(1, dtype=torch.bool)
    mask = mask.expand(B, num_heads, L_q, L_k)
    output, tables = params["o_proj.bias"].expand(B, L_q, -1), []
    for h in range(num_heads):
        own = slice(h * d_head, (h + 1) * d_head)
        q = query @ params["q_proj.weight"][own].T + params["q_proj.bias"][own]
        k = memory @ params["k_proj.weight"][own].T + params["k_proj.bias"][own]
        v = memory @ params["v_proj.weight"][own].T + params["v_proj.bias"][own]
        scores = torch.bmm(q, k.mT).div(d_head**0.5).masked_fill(~mask[:, h], -torch.inf)
        tables.append(scores.softmax(dim=-1))
        output = output + tables[-1] @ v @ params["o_proj.weight"][:, own].T
    return output, torch.stack(tables, dim=1)

# %% setup
import torch.nn.functional as F

from course_utils.attention import masked_softmax


def split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

# %% wrong: only the values are made from query
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(F.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(F.linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(F.linear(query, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    merged = (weights @ v).transpose(1, 2).flatten(2)
    return F.linear(merged, params["o_proj.weight"], params["o_proj.bias"]), weights

# %% setup
import torch
import torch.nn.functional as F
from course_utils.attention import masked_softmax


def cut(x, num_heads):
    return x.reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)


def project(x, params, name):
    return F.linear(x, params[f"{name}_proj.weight"], params[f"{name}_proj.bias"])

# %% wrong: the output projection without its bias
def multi_head_attention(query, memory, params, num_heads, mask):
    q, k, v = (cut(project(x, params, n), num_heads) for x, n in ((query, "q"), (memory, "k"), (memory, "v")))
    w = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return F.linear((w @ v).transpose(1, 2).flatten(2), params["o_proj.weight"]), w

# %% wrong: the mask is never used
def multi_head_attention(query, memory, params, num_heads, mask):
    q, k, v = (cut(project(x, params, n), num_heads) for x, n in ((query, "q"), (memory, "k"), (memory, "v")))
    w = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    return project((w @ v).transpose(1, 2).flatten(2), params, "o"), w

# %% wrong: keys and values from query
def multi_head_attention(query, memory, params, num_heads, mask):
    q, k, v = (cut(project(query, params, n), num_heads) for n in "qkv")
    w = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return project((w @ v).transpose(1, 2).flatten(2), params, "o"), w

# %% wrong: splits the heads by one reshape to (B, H, L, d_head)
def multi_head_attention(query, memory, params, num_heads, mask):
    split = lambda t: t.reshape(t.shape[0], num_heads, t.shape[1], -1)
    q, k, v = (split(project(x, params, n)) for x, n in ((query, "q"), (memory, "k"), (memory, "v")))
    w = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return project((w @ v).transpose(1, 2).flatten(2), params, "o"), w

# %% right: one head after the other, with slices of the matrices; outputs are added
def multi_head_attention(query, memory, params, num_heads, mask):
    d = params["q_proj.weight"].shape[0] // num_heads
    output, tables = params["o_proj.bias"], []
    for h in range(num_heads):
        rows = slice(h * d, (h + 1) * d)
        q, k, v = (F.linear(x, params[n + "_proj.weight"][rows], params[n + "_proj.bias"][rows])
                   for x, n in ((query, "q"), (memory, "k"), (memory, "v")))
        allowed = mask
        if mask is not None:
            allowed = mask.expand(len(query), num_heads, q.shape[1], k.shape[1])[:, h]
        tables.append(masked_softmax(q @ k.mT / d**0.5, allowed))
        output = output + tables[-1] @ v @ params["o_proj.weight"][:, rows].T
    return output, torch.stack(tables, dim=1)
