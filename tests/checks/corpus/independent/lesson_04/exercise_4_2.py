# %% setup
import torch
import torch.nn.functional as F
from torch import nn


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: exchanges the roles: the queries are made from memory, the keys and values from x
def cross_attention(x, memory, W_q, W_k, W_v):
    query = memory @ W_q
    key, value = x @ W_k, x @ W_v
    return attention(query, key, value)

# %% wrong: makes the values from x instead of from memory
def cross_attention(x, memory, W_q, W_k, W_v):
    query, key, value = x @ W_q, memory @ W_k, x @ W_v
    return attention(query, key, value)

# %% wrong: uses the first memory of the batch for all items, right for a batch of 1 only
def cross_attention(x, memory, W_q, W_k, W_v):
    query = x @ W_q
    key = memory[0] @ W_k
    value = memory[0] @ W_v
    weights = torch.softmax(query @ key.T / key.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights

# %% wrong: divides by sqrt(d_x), the width of x, instead of by sqrt(d_k)
def cross_attention(x, memory, W_q, W_k, W_v):
    query, key, value = x @ W_q, memory @ W_k, memory @ W_v
    scores = query @ key.transpose(-2, -1) / x.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: brings the keys into the shape (B, d_k, L_k) with reshape instead of transposing them, which scrambles their entries
def cross_attention(x, memory, W_q, W_k, W_v):
    query, key, value = x @ W_q, memory @ W_k, memory @ W_v
    B, L_k, d_k = key.shape
    scores = query @ key.reshape(B, d_k, L_k) / d_k**0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: cuts the memory to the length of x, so tokens of a longer memory are lost
def cross_attention(x, memory, W_q, W_k, W_v):
    memory = memory[:, : x.shape[1]]
    return attention(x @ W_q, memory @ W_k, memory @ W_v)

# %% two mistakes: takes the softmax over the queries (axis 1) instead of over the memory's tokens; and forgets the scale
def cross_attention(x, memory, W_q, W_k, W_v):
    query, key, value = x @ W_q, memory @ W_k, memory @ W_v
    weights = torch.softmax(query @ key.transpose(1, 2), dim=1)
    return weights @ value, weights

# %% right: the queries are carried into the space of the memory, and the values are projected after averaging
def cross_attention(x, memory, W_q, W_k, W_v):
    asked = x @ (W_q @ W_k.T) / W_k.shape[1] ** 0.5
    weights = torch.einsum("bqm,bkm->bqk", asked, memory).softmax(dim=2)
    return torch.bmm(weights, memory) @ W_v, weights

# %% right: loops over the batch and the queries, filling tensors that are allocated first
def cross_attention(x, memory, W_q, W_k, W_v):
    B, L_q, _ = x.shape
    L_k, d_v = memory.shape[1], W_v.shape[1]
    output, weights = x.new_zeros(B, L_q, d_v), x.new_zeros(B, L_q, L_k)
    for b in range(B):
        key, value = memory[b] @ W_k, memory[b] @ W_v
        for i in range(L_q):
            scores = (key * (x[b, i] @ W_q)).sum(dim=-1) / key.shape[-1] ** 0.5
            w = torch.softmax(scores, dim=0)
            weights[b, i] = w
            output[b, i] = w @ value
    return output, weights

# %% right: baddbmm with the scale as alpha and a softmax by hand with keys before queries, transposed at the end
def cross_attention(x, memory, W_q, W_k, W_v):
    query, key, value = F.linear(x, W_q.T), F.linear(memory, W_k.T), F.linear(memory, W_v.T)
    zero = query.new_zeros(1, 1, 1)
    scores = torch.baddbmm(zero, key, query.transpose(1, 2), beta=0, alpha=key.shape[-1] ** -0.5)  # (B, L_k, L_q)
    columns = (scores - scores.logsumexp(dim=1, keepdim=True)).exp()
    weights = columns.transpose(1, 2)
    return torch.bmm(weights, value), weights


# %% right: named in the review: PyTorch's own attention for the output, and for the weights with the identity as values
def cross_attention(x, memory, W_q, W_k, W_v):
    q, k, v = x @ W_q, memory @ W_k, memory @ W_v
    eye = torch.eye(k.shape[1], dtype=k.dtype).expand(k.shape[0], -1, -1)
    weights = F.scaled_dot_product_attention(q, k, eye)
    return F.scaled_dot_product_attention(q, k, v), weights
