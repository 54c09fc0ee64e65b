# %% setup
import torch

from course_utils.attention import masked_softmax


def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, d_model // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).reshape(B, L, H * d_head)

# %% wrong: divides the scores by sqrt(d_model) instead of sqrt(d_head)
def multi_head_attention(query, memory, params, num_heads, mask):
    def linear(x, name):
        return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]

    d_model = params["q_proj.weight"].shape[0]
    q = split_heads(linear(query, "q_proj"), num_heads)
    k = split_heads(linear(memory, "k_proj"), num_heads)
    v = split_heads(linear(memory, "v_proj"), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / d_model**0.5, mask)
    return linear(merge_heads(weights @ v), "o_proj"), weights

# %% wrong: makes the keys from query instead of from memory
def multi_head_attention(query, memory, params, num_heads, mask):
    q = query @ params["q_proj.weight"].T + params["q_proj.bias"]
    k = query @ params["k_proj.weight"].T + params["k_proj.bias"]
    v = memory @ params["v_proj.weight"].T + params["v_proj.bias"]
    q, k, v = split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = masked_softmax(scores, mask)
    output = merge_heads(weights @ v)
    return output @ params["o_proj.weight"].T + params["o_proj.bias"], weights

# %% wrong: adds a head axis to the mask although it already broadcasts to (B, H, L_q, L_k)
def multi_head_attention(query, memory, params, num_heads, mask):
    linear = torch.nn.functional.linear
    q = split_heads(linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.unsqueeze(1), float("-inf"))
    weights = scores.softmax(-1)
    output = linear(merge_heads(weights @ v), params["o_proj.weight"], params["o_proj.bias"])
    return output, weights

# %% wrong: copies the parameters into new nn.Linear layers by .data, so no gradient reaches the parameters of the dict
def multi_head_attention(query, memory, params, num_heads, mask):
    layers = {}
    for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
        weight = params[f"{name}.weight"]
        layers[name] = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=weight.dtype)
        layers[name].weight.data = weight.data
        layers[name].bias.data = params[f"{name}.bias"].data
    q = split_heads(layers["q_proj"](query), num_heads)
    k = split_heads(layers["k_proj"](memory), num_heads)
    v = split_heads(layers["v_proj"](memory), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    return layers["o_proj"](merge_heads(weights @ v)), weights

# %% wrong: forgets the bias of the output projection
def multi_head_attention(query, memory, params, num_heads, mask):
    q = query @ params["q_proj.weight"].T + params["q_proj.bias"]
    k = memory @ params["k_proj.weight"].T + params["k_proj.bias"]
    v = memory @ params["v_proj.weight"].T + params["v_proj.bias"]
    q, k, v = (split_heads(t, num_heads) for t in (q, k, v))
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    return merge_heads(weights @ v) @ params["o_proj.weight"].T, weights

# %% wrong: returns the weights averaged over the heads, shape (B, L_q, L_k)
def multi_head_attention(query, memory, params, num_heads, mask):
    def project(x, name):
        return torch.nn.functional.linear(x, params[name + ".weight"], params[name + ".bias"])

    q = split_heads(project(query, "q_proj"), num_heads)
    k = split_heads(project(memory, "k_proj"), num_heads)
    v = split_heads(project(memory, "v_proj"), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5, mask)
    output = project(merge_heads(weights @ v), "o_proj")
    return output, weights.mean(dim=1)

# %% two mistakes: merges the heads by reshape without the transpose; and reads the mask the wrong way round, hiding where it is True
def multi_head_attention(query, memory, params, num_heads, mask):
    B, L_q, _ = query.shape
    q = query @ params["q_proj.weight"].T + params["q_proj.bias"]
    k = memory @ params["k_proj.weight"].T + params["k_proj.bias"]
    v = memory @ params["v_proj.weight"].T + params["v_proj.bias"]
    q, k, v = split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    weights = torch.softmax(scores, dim=-1)
    mixed = (weights @ v).reshape(B, L_q, -1)
    return mixed @ params["o_proj.weight"].T + params["o_proj.bias"], weights

# %% right: a loop over the heads with slices of the matrices, each head's share of the output projection is added up
def multi_head_attention(query, memory, params, num_heads, mask):
    d_head = params["q_proj.weight"].shape[0] // num_heads
    B, L_q, L_k = query.shape[0], query.shape[1], memory.shape[1]
    if mask is not None:
        mask = torch.broadcast_to(mask, (B, num_heads, L_q, L_k))
    output, weights = params["o_proj.bias"], []
    for h in range(num_heads):
        own = slice(h * d_head, (h + 1) * d_head)
        q = query @ params["q_proj.weight"][own].T + params["q_proj.bias"][own]
        k = memory @ params["k_proj.weight"][own].T + params["k_proj.bias"][own]
        v = memory @ params["v_proj.weight"][own].T + params["v_proj.bias"][own]
        scores = q @ k.transpose(1, 2) / d_head**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, h], float("-inf"))
        w = torch.softmax(scores, dim=-1)
        weights.append(w)
        output = output + w @ v @ params["o_proj.weight"][:, own].T
    return output, torch.stack(weights, dim=1)

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

# %% right: heads folded into the batch axis and bmm, as PyTorch used to do it
def multi_head_attention(query, memory, params, num_heads, mask):
    linear = torch.nn.functional.linear
    B, L_q, _ = query.shape
    L_k = memory.shape[1]

    def fold(x, name):
        x = linear(x, params[f"{name}.weight"], params[f"{name}.bias"])
        return torch.cat(x.chunk(num_heads, dim=-1), dim=0)  # (H * B, L, d_head)

    q, k, v = fold(query, "q_proj"), fold(memory, "k_proj"), fold(memory, "v_proj")
    scores = torch.bmm(q, k.transpose(1, 2)) / q.shape[-1] ** 0.5
    weights = masked_softmax(scores.view(num_heads, B, L_q, L_k).transpose(0, 1), mask)
    folded = weights.transpose(0, 1).reshape(num_heads * B, L_q, L_k)
    mixed = torch.cat(torch.bmm(folded, v).chunk(num_heads, dim=0), dim=-1)
    return linear(mixed, params["o_proj.weight"], params["o_proj.bias"]), weights


# %% wrong: named in the review: cuts the gradient of k_proj.weight only
import torch.nn.functional as F


def multi_head_attention(query, memory, params, num_heads, mask):
    params = dict(params) | {"k_proj.weight": params["k_proj.weight"].detach()}
    q = split_heads(F.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(F.linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(F.linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return F.linear(merge_heads(weights @ v), params["o_proj.weight"], params["o_proj.bias"]), weights


# %% wrong: named in the review: cuts the gradient of q_proj.bias only
import torch.nn.functional as F


def multi_head_attention(query, memory, params, num_heads, mask):
    params = dict(params) | {"q_proj.bias": params["q_proj.bias"].detach()}
    q = split_heads(F.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(F.linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(F.linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return F.linear(merge_heads(weights @ v), params["o_proj.weight"], params["o_proj.bias"]), weights


# %% wrong: named in the review: cuts the gradient of v_proj.bias only
import torch.nn.functional as F


def multi_head_attention(query, memory, params, num_heads, mask):
    params = dict(params) | {"v_proj.bias": params["v_proj.bias"].detach()}
    q = split_heads(F.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(F.linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(F.linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return F.linear(merge_heads(weights @ v), params["o_proj.weight"], params["o_proj.bias"]), weights


# %% wrong: named in the review: cuts the gradient of o_proj.bias only
import torch.nn.functional as F


def multi_head_attention(query, memory, params, num_heads, mask):
    params = dict(params) | {"o_proj.bias": params["o_proj.bias"].detach()}
    q = split_heads(F.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(F.linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(F.linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return F.linear(merge_heads(weights @ v), params["o_proj.weight"], params["o_proj.bias"]), weights


# %% wrong: named in the review: cuts the gradient of o_proj.weight only
import torch.nn.functional as F


def multi_head_attention(query, memory, params, num_heads, mask):
    params = dict(params) | {"o_proj.weight": params["o_proj.weight"].detach()}
    q = split_heads(F.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(F.linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(F.linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return F.linear(merge_heads(weights @ v), params["o_proj.weight"], params["o_proj.bias"]), weights


# %% wrong: named in the review: calls its own split_heads, which is still empty
import torch.nn.functional as F


def split_heads(x, num_heads):
    raise NotImplementedError


def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(F.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(F.linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(F.linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return F.linear(merge_heads(weights @ v), params["o_proj.weight"], params["o_proj.bias"]), weights
