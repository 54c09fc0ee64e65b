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


# %% wrong: takes a mask with three axes for (B, L_q, L_k) and inserts the axis of the heads, so a mask (H, L_q, L_k) is laid on the batch
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    return linear(merge_heads(weights @ v), params["o_proj.weight"], params["o_proj.bias"]), weights


# %% wrong: projects every head with its columns of the output matrix and adds the bias for each head, so the bias comes in num_heads times
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    mixed = weights @ v
    output = 0
    for h, block in enumerate(params["o_proj.weight"].chunk(num_heads, dim=1)):
        output = output + linear(mixed[:, h], block, params["o_proj.bias"])
    return output, weights


# %% wrong: wraps the parameters into new nn.Linear modules with new nn.Parameter objects, so no gradient reaches those of the dict
def multi_head_attention(query, memory, params, num_heads, mask):
    layers = {}
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        weight = params[name + ".weight"]
        layers[name] = nn.Linear(weight.shape[1], weight.shape[0])
        layers[name].weight = nn.Parameter(weight)
        layers[name].bias = nn.Parameter(params[name + ".bias"])
    q = split_heads(layers["q_proj"](query), num_heads)
    k = split_heads(layers["k_proj"](memory), num_heads)
    v = split_heads(layers["v_proj"](memory), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    return layers["o_proj"](merge_heads(weights @ v)), weights


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


# %% right: einsum on matrices cut into heads, without split_heads or merge_heads, the mask as a bias of 0 or minus infinity
def multi_head_attention(query, memory, params, num_heads, mask):
    def project(x, name):
        weight = params[name + ".weight"].unflatten(0, (num_heads, -1))
        bias = params[name + ".bias"].unflatten(0, (num_heads, 1, -1))
        return torch.einsum("ble,hde->bhld", x, weight) + bias

    q, k, v = project(query, "q_proj"), project(memory, "k_proj"), project(memory, "v_proj")
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + mask.to(scores.dtype).log()
    weights = scores.log_softmax(dim=-1).exp()
    out = params["o_proj.weight"].unflatten(1, (num_heads, -1))
    return torch.einsum("bhij,bhjd,ehd->bie", weights, v, out) + params["o_proj.bias"], weights
