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

# %% wrong: gives the mask an axis for the heads at place 1 whatever its shape, so masks that have this axis already, or have two axes only, are misplaced or fail
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(torch.nn.functional.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(torch.nn.functional.linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(torch.nn.functional.linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    if mask is not None:
        mask = mask.unsqueeze(1)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    merged = merge_heads(weights @ v)
    return merged @ params["o_proj.weight"].T + params["o_proj.bias"], weights

# %% wrong: copies the parameters into new nn.Linear layers, so the numbers are right but no gradient reaches the parameters
def multi_head_attention(query, memory, params, num_heads, mask):
    layers = {}
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        weight = params[name + ".weight"]
        layers[name] = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=weight.dtype)
        layers[name].weight.data.copy_(weight.data)
        layers[name].bias.data.copy_(params[name + ".bias"].data)
    q = split_heads(layers["q_proj"](query), num_heads)
    k = split_heads(layers["k_proj"](memory), num_heads)
    v = split_heads(layers["v_proj"](memory), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    return layers["o_proj"](merge_heads(weights @ v)), weights

# %% wrong: scales by the root of d_model instead of the size of one head
def multi_head_attention(query, memory, params, num_heads, mask):
    q = query @ params["q_proj.weight"].T + params["q_proj.bias"]
    k = memory @ params["k_proj.weight"].T + params["k_proj.bias"]
    v = memory @ params["v_proj.weight"].T + params["v_proj.bias"]
    scale = q.shape[-1] ** 0.5
    q, k, v = split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / scale, mask)
    return merge_heads(weights @ v) @ params["o_proj.weight"].T + params["o_proj.bias"], weights

# %% wrong: returns the weights averaged over the heads, shape (B, L_q, L_k), as PyTorch's module does; the output is right
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(query @ params["q_proj.weight"].T + params["q_proj.bias"], num_heads)
    k = split_heads(memory @ params["k_proj.weight"].T + params["k_proj.bias"], num_heads)
    v = split_heads(memory @ params["v_proj.weight"].T + params["v_proj.bias"], num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    output = merge_heads(weights @ v) @ params["o_proj.weight"].T + params["o_proj.bias"]
    return output, weights.mean(dim=1)

# %% right: head by head, each with its rows of the matrices, and the output as a sum of the heads' contributions
def multi_head_attention(query, memory, params, num_heads, mask):
    d_model = params["q_proj.weight"].shape[0]
    d_head = d_model // num_heads
    B, L_q, L_k = query.shape[0], query.shape[1], memory.shape[1]
    full = None if mask is None else mask.expand(B, num_heads, L_q, L_k)
    output, weights = params["o_proj.bias"], []
    for h in range(num_heads):
        rows = slice(h * d_head, (h + 1) * d_head)
        q = query @ params["q_proj.weight"][rows].T + params["q_proj.bias"][rows]
        k = memory @ params["k_proj.weight"][rows].T + params["k_proj.bias"][rows]
        v = memory @ params["v_proj.weight"][rows].T + params["v_proj.bias"][rows]
        scores = q @ k.transpose(1, 2) / d_head**0.5
        if full is not None:
            scores = scores.masked_fill(~full[:, h], -torch.inf)
        w = scores.softmax(dim=-1)
        weights.append(w)
        output = output + w @ v @ params["o_proj.weight"][:, rows].T
    return output, torch.stack(weights, dim=1)

# %% right: einsum from first to last with matrices reshaped to (H, d_head, d_in), no split and no merge of activations
def multi_head_attention(query, memory, params, num_heads, mask):
    def project(x, name):
        weight = params[name + ".weight"].unflatten(0, (num_heads, -1))
        bias = params[name + ".bias"].unflatten(0, (num_heads, 1, -1))
        return torch.einsum("bli,hei->bhle", x, weight) + bias

    q, k, v = project(query, "q_proj"), project(memory, "k_proj"), project(memory, "v_proj")
    scores = torch.einsum("bhqe,bhke->bhqk", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
    weights = torch.softmax(scores, dim=-1)
    o_weight = params["o_proj.weight"].unflatten(1, (num_heads, -1))  # (d_in, H, d_head)
    return torch.einsum("bhqk,bhke,ihe->bqi", weights, v, o_weight) + params["o_proj.bias"], weights
