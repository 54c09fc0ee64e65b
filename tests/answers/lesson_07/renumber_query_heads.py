# %% setup
import torch

# %% wrong: the inverse order, in both
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = [head % num_kv_heads * (num_heads // num_kv_heads) + head // num_kv_heads for head in range(num_heads)]
    rows = W_q.view(num_heads, -1, W_q.shape[1])[order].flatten(0, 1)
    return rows, W_o.view(W_o.shape[0], num_heads, -1)[:, order].flatten(1)

# %% wrong: W_o is handed back as it was
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = [head for j in range(num_kv_heads) for head in range(j, num_heads, num_kv_heads)]
    return W_q.view(num_heads, -1, W_q.shape[1])[order].flatten(0, 1), W_o

# %% wrong: single rows are dealt out, as if every head had size 1
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = [row for j in range(num_kv_heads) for row in range(j, W_q.shape[0], num_kv_heads)]
    return W_q[order], W_o[:, order]

# %% wrong: no gradients, the result is written into new tensors that know nothing of the old
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    d_head = W_q.shape[0] // num_heads
    order = [head for j in range(num_kv_heads) for head in range(j, num_heads, num_kv_heads)]
    new_q, new_o = torch.empty_like(W_q), torch.empty_like(W_o)
    for new, old in enumerate(order):
        new_q[new * d_head : (new + 1) * d_head] = W_q.detach()[old * d_head : (old + 1) * d_head]
        new_o[:, new * d_head : (new + 1) * d_head] = W_o.detach()[:, old * d_head : (old + 1) * d_head]
    return new_q, new_o

# %% two mistakes: the inverse order in W_q; and W_o as it was
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    rows = W_q.unflatten(0, (num_kv_heads, num_heads // num_kv_heads, -1)).transpose(0, 1)
    return rows.flatten(0, 2), W_o.clone()

# %% right: a permutation matrix from the left and from the right
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = torch.arange(num_heads).view(-1, num_kv_heads).T.flatten()
    P = torch.eye(num_heads, dtype=W_q.dtype)[order]
    P = torch.kron(P, torch.eye(W_q.shape[0] // num_heads, dtype=W_q.dtype))
    return P @ W_q, W_o @ P.T

# %% right: chunks, picked in the new order and joined again
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = sorted(range(num_heads), key=lambda head: head % num_kv_heads)
    rows, columns = W_q.chunk(num_heads, dim=0), W_o.chunk(num_heads, dim=1)
    return torch.cat([rows[h] for h in order]), torch.cat([columns[h] for h in order], dim=1)
