# %% setup
import torch

# %% wrong: the inverse order, [h % kv * G + h // kv] used to pick
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    G = num_heads // num_kv_heads
    order = [h % num_kv_heads * G + h // num_kv_heads for h in range(num_heads)]
    d = W_q.shape[0] // num_heads
    q = W_q.view(num_heads, d, -1)[order].reshape(W_q.shape)
    o = W_o.view(W_o.shape[0], num_heads, d)[:, order].reshape(W_o.shape)
    return q, o

# %% wrong: reorders W_q and leaves W_o as it was
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = [h for kv in range(num_kv_heads) for h in range(kv, num_heads, num_kv_heads)]
    d = W_q.shape[0] // num_heads
    return W_q.view(num_heads, d, -1)[order].reshape(W_q.shape), W_o.clone()

# %% wrong: the output's columns get the inverse order, as if they had to undo what the queries' rows did
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = torch.arange(num_heads).view(-1, num_kv_heads).T.flatten()
    d = W_q.shape[0] // num_heads
    q = W_q.view(num_heads, d, -1)[order].flatten(0, 1)
    o = W_o.view(W_o.shape[0], num_heads, d)[:, order.argsort()].flatten(1)
    return q, o

# %% wrong: picks single rows and columns by the head order, right only for heads of size 1
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    rows = torch.arange(W_q.shape[0])
    order = torch.cat([rows[k::num_kv_heads] for k in range(num_kv_heads)])
    return W_q[order], W_o[:, order]

# %% wrong: reorders the rows of W_o instead of its columns
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = [h for kv in range(num_kv_heads) for h in range(kv, num_heads, num_kv_heads)]
    d = W_q.shape[0] // num_heads
    q = W_q.view(num_heads, d, -1)[order].reshape(W_q.shape)
    o = W_o.reshape(num_heads, -1)[order].reshape(W_o.shape)
    return q, o

# %% wrong: takes the features of a row or column apart as (d_head, heads) instead of (heads, d_head)
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = [h for kv in range(num_kv_heads) for h in range(kv, num_heads, num_kv_heads)]
    d = W_q.shape[0] // num_heads
    q = W_q.view(d, num_heads, -1)[:, order].reshape(W_q.shape)
    o = W_o.view(W_o.shape[0], d, num_heads)[:, :, order].reshape(W_o.shape)
    return q, o

# %% wrong: heads within a group come in falling order
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = sorted(range(num_heads), key=lambda h: (h % num_kv_heads, -h))
    d = W_q.shape[0] // num_heads
    q = W_q.view(num_heads, d, -1)[order].reshape(W_q.shape)
    o = W_o.view(W_o.shape[0], num_heads, d)[:, order].reshape(W_o.shape)
    return q, o

# %% wrong: builds the new matrices with torch.tensor from lists, so no gradient comes through
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    d = W_q.shape[0] // num_heads
    order = [h for kv in range(num_kv_heads) for h in range(kv, num_heads, num_kv_heads)]
    index = [h * d + j for h in order for j in range(d)]
    rows, cols = W_q.tolist(), W_o.T.tolist()
    q = torch.tensor([rows[i] for i in index], dtype=W_q.dtype)
    o = torch.tensor([cols[i] for i in index], dtype=W_o.dtype).T
    return q, o

# %% wrong: writes the new order into the arguments
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    d = W_q.shape[0] // num_heads
    order = [h for kv in range(num_kv_heads) for h in range(kv, num_heads, num_kv_heads)]
    index = [h * d + j for h in order for j in range(d)]
    with torch.no_grad():
        W_q[:] = W_q[index].clone()
        W_o[:] = W_o[:, index].clone()
    return W_q, W_o

# %% two mistakes: the inverse order; and W_o stays as it was
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    G = num_heads // num_kv_heads
    order = [h % num_kv_heads * G + h // num_kv_heads for h in range(num_heads)]
    d = W_q.shape[0] // num_heads
    return W_q.view(num_heads, d, -1)[order].reshape(W_q.shape), W_o.clone()

# %% two mistakes: the inverse order; and reorders rows of W_o instead of columns
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    G = num_heads // num_kv_heads
    order = [h for g in range(G) for h in range(g, num_heads, G)]
    d = W_q.shape[0] // num_heads
    q = W_q.view(num_heads, d, -1)[order].reshape(W_q.shape)
    o = W_o.reshape(num_heads, -1)[order].reshape(W_o.shape)
    return q, o

# %% right: two axes for the heads, swapped
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    d = W_q.shape[0] // num_heads
    q = W_q.reshape(-1, num_kv_heads, d, W_q.shape[1]).transpose(0, 1).reshape(W_q.shape)
    o = W_o.reshape(W_o.shape[0], -1, num_kv_heads, d).transpose(1, 2).reshape(W_o.shape)
    return q, o

# %% right: a permutation matrix, by a Kronecker product, from the left and from the right
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    d = W_q.shape[0] // num_heads
    order = torch.arange(num_heads).view(-1, num_kv_heads).T.flatten()
    P = torch.kron(torch.eye(num_heads)[order], torch.eye(d)).to(W_q.dtype)
    return P @ W_q, W_o @ P.T

# %% right: chunks, chosen with a stable sort of the old key/value heads and joined again
def renumber_query_heads(W_q, W_o, num_heads, num_kv_heads):
    order = sorted(range(num_heads), key=lambda h: h % num_kv_heads)
    q, o = W_q.chunk(num_heads, dim=0), W_o.chunk(num_heads, dim=1)
    return torch.cat([q[h] for h in order]), torch.cat([o[h] for h in order], dim=1)
