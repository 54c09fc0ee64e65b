# %% setup
import torch

from course_utils.attention import masked_softmax


def split_heads(x, num_heads):
    B, L, d_model = x.shape
    return x.reshape(B, L, num_heads, d_model // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, L, d_head = x.shape
    return x.transpose(1, 2).reshape(B, L, H * d_head)

# %% wrong: takes the softmax over the last axis, which is the heads in this layout, instead of over the keys
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    B, L_q, _ = query.shape
    L_k = memory.shape[1]
    q = (query @ W_q.T).view(B, L_q, num_heads, -1)
    k = (memory @ W_k.T).view(B, L_k, num_heads, -1)
    v = (memory @ W_v.T).view(B, L_k, num_heads, -1)
    scores = torch.einsum("bqhd,bkhd->bqkh", q, k) / q.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    output = torch.einsum("bqkh,bkhd->bqhd", weights, v)
    return output.reshape(B, L_q, -1), weights

# %% wrong: returns the weights with the heads on axis 1, (B, H, L_q, L_k), instead of last
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    B, L_q, _ = query.shape
    L_k = memory.shape[1]
    q = (query @ W_q.T).view(B, L_q, num_heads, -1)
    k = (memory @ W_k.T).view(B, L_k, num_heads, -1)
    v = (memory @ W_v.T).view(B, L_k, num_heads, -1)
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, v).reshape(B, L_q, -1), weights

# %% wrong: divides by the square root of d_v, the head size of the values, instead of d_head
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.einsum("bli,hdi->blhd", query, W_q.unflatten(0, (num_heads, -1)))
    k = torch.einsum("bli,hdi->blhd", memory, W_k.unflatten(0, (num_heads, -1)))
    v = torch.einsum("bli,hdi->blhd", memory, W_v.unflatten(0, (num_heads, -1)))
    d = W_v.shape[0] // num_heads
    weights = (torch.einsum("bqhd,bkhd->bqkh", q, k) / d**0.5).softmax(dim=2)
    return torch.einsum("bqkh,bkhv->bqhv", weights, v).flatten(2), weights

# %% wrong: uses d_head for the values too, so a d_v that differs stops it with an error
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    B, L_q, d_in = query.shape
    L_k = memory.shape[1]
    d_head = W_q.shape[0] // num_heads
    q = (query @ W_q.T).view(B, L_q, num_heads, d_head)
    k = (memory @ W_k.T).view(B, L_k, num_heads, d_head)
    v = (memory @ W_v.T).view(B, L_k, num_heads, d_head)
    weights = torch.softmax(torch.einsum("bqhd,bkhd->bqkh", q, k) / d_head**0.5, dim=2)
    output = torch.einsum("bqkh,bkhd->bqhd", weights, v).reshape(B, L_q, num_heads * d_head)
    return output, weights

# %% wrong: cuts the rows of the matrices as (d_head, H) instead of (H, d_head), so each head gets every H-th row
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    B, L_q, d_in = query.shape
    q = torch.einsum("bqi,dhi->bqhd", query, W_q.view(-1, num_heads, d_in))
    k = torch.einsum("bki,dhi->bkhd", memory, W_k.view(-1, num_heads, d_in))
    v = torch.einsum("bki,dhi->bkhd", memory, W_v.view(-1, num_heads, d_in))
    weights = torch.softmax(torch.einsum("bqhd,bkhd->bqkh", q, k) / q.shape[-1] ** 0.5, dim=2)
    return torch.einsum("bqkh,bkhd->bqhd", weights, v).reshape(B, L_q, -1), weights

# %% wrong: the output has the features in the order d_v, H when it is flattened, so the heads are interleaved
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    B, L_q, d_in = query.shape
    q = torch.einsum("bqi,hdi->bqhd", query, W_q.view(num_heads, -1, d_in))
    k = torch.einsum("bki,hdi->bkhd", memory, W_k.view(num_heads, -1, d_in))
    v = torch.einsum("bki,hdi->bkhd", memory, W_v.view(num_heads, -1, d_in))
    scores = torch.einsum("bqhd,bkhd->bqkh", q, k) * q.shape[-1] ** -0.5
    weights = scores.softmax(-2)
    output = torch.einsum("bqkh,bkhd->bqdh", weights, v)
    return output.reshape(B, L_q, -1), weights

# %% two mistakes: forgets the scale; and normalizes over the queries (axis 1) instead of over the keys
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    B, L_q, _ = query.shape
    L_k = memory.shape[1]
    q = (query @ W_q.T).view(B, L_q, num_heads, -1)
    k = (memory @ W_k.T).view(B, L_k, num_heads, -1)
    v = (memory @ W_v.T).view(B, L_k, num_heads, -1)
    weights = torch.softmax(torch.einsum("bqhd,bkhd->bqkh", q, k), dim=1)
    return torch.einsum("bqkh,bkhd->bqhd", weights, v).reshape(B, L_q, -1), weights

# %% right: one einsum with four operands from the inputs to the scores
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    Q, K, V = (W.unflatten(0, (num_heads, -1)) for W in (W_q, W_k, W_v))  # (H, d, d_in) each
    scores = torch.einsum("bqi,hdi,hdj,bkj->bqkh", query, Q, K, memory) / Q.shape[1] ** 0.5
    weights = torch.softmax(scores, dim=2)
    output = torch.einsum("bqkh,bkj,hvj->bqhv", weights, memory, V)
    return output.flatten(start_dim=2), weights

# %% right: broadcasting and sums in place of einsum, a softmax by log-sum-exp
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    q = torch.nn.functional.linear(query, W_q).unflatten(-1, (num_heads, -1))
    k = torch.nn.functional.linear(memory, W_k).unflatten(-1, (num_heads, -1))
    v = torch.nn.functional.linear(memory, W_v).unflatten(-1, (num_heads, -1))
    scores = (q[:, :, None] * k[:, None]).sum(-1) / q.shape[-1] ** 0.5  # (B, L_q, L_k, H)
    weights = torch.exp(scores - scores.logsumexp(dim=2, keepdim=True))
    output = (weights[..., None] * v[:, None]).sum(dim=2)
    return output.flatten(-2), weights

# %% right: head by head, weights stacked on the last axis and outputs put side by side
def heads_by_einsum(query, memory, W_q, W_k, W_v, num_heads):
    outputs, weights = [], []
    for A_q, A_k, A_v in zip(W_q.chunk(num_heads), W_k.chunk(num_heads), W_v.chunk(num_heads)):
        q, k, v = query @ A_q.t(), memory @ A_k.t(), memory @ A_v.t()
        w = torch.softmax(torch.einsum("bqd,bkd->bqk", q, k) / A_q.shape[0] ** 0.5, dim=-1)
        outputs.append(torch.einsum("bqk,bkd->bqd", w, v))
        weights.append(w)
    return torch.cat(outputs, dim=-1), torch.stack(weights, dim=-1)
