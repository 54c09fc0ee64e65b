# %% setup
import torch.nn.functional as F

from course_utils.attention import masked_softmax


def split_heads(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


# %% wrong: the biases of the first three projections forgotten, that of the output is there
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(query @ params["q_proj.weight"].T, num_heads)
    k = split_heads(memory @ params["k_proj.weight"].T, num_heads)
    v = split_heads(memory @ params["v_proj.weight"].T, num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    merged = (weights @ v).transpose(1, 2).flatten(2)
    return F.linear(merged, params["o_proj.weight"], params["o_proj.bias"]), weights

# %% wrong: the weights of keys and values exchanged, their biases in place
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(F.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(F.linear(memory, params["v_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(F.linear(memory, params["k_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    merged = (weights @ v).transpose(1, 2).flatten(2)
    return F.linear(merged, params["o_proj.weight"], params["o_proj.bias"]), weights

# %% wrong: only the values are made from query
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(F.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(F.linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(F.linear(query, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, mask)
    merged = (weights @ v).transpose(1, 2).flatten(2)
    return F.linear(merged, params["o_proj.weight"], params["o_proj.bias"]), weights

# %% wrong: divides by the root of the number of heads
def multi_head_attention(query, memory, params, num_heads, mask):
    q = split_heads(F.linear(query, params["q_proj.weight"], params["q_proj.bias"]), num_heads)
    k = split_heads(F.linear(memory, params["k_proj.weight"], params["k_proj.bias"]), num_heads)
    v = split_heads(F.linear(memory, params["v_proj.weight"], params["v_proj.bias"]), num_heads)
    weights = masked_softmax(q @ k.transpose(-2, -1) / num_heads**0.5, mask)
    merged = (weights @ v).transpose(1, 2).flatten(2)
    return F.linear(merged, params["o_proj.weight"], params["o_proj.bias"]), weights
