# %% setup
import torch

# %% wrong: takes the softmax over the queries (dim=1) instead of over the keys
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh((query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None])
    weights = torch.softmax(hidden @ w_v, dim=1)
    return weights @ value, weights

# %% wrong: adds query i and key i only, by broadcasting without new axes, so it needs equal numbers of queries and keys and gives every query the same weights
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh(query @ W_q.T + key @ W_k.T)
    scores = (hidden @ w_v).unsqueeze(1).expand(-1, query.shape[1], -1)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% two mistakes: leaves out the tanh; and returns the weights first and the output second
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = (query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None]
    weights = torch.softmax(hidden @ w_v, dim=-1)
    return weights, weights @ value

# %% wrong: named in the review: adds the projections without the new axis for the pairs
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh(query @ W_q.T + key @ W_k.T)
    scores = (hidden @ w_v).unsqueeze(1)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: W_q and W_k are used through .data, so no gradient reaches them
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = query @ W_q.data.T
    k = key @ W_k.data.T
    weights = torch.softmax(torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)) @ w_v, dim=-1)
    return torch.bmm(weights, value), weights

# %% wrong: no tanh
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = (query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None]
    w = torch.softmax(hidden @ w_v, dim=-1)
    return w @ value, w

# %% wrong: matrices not transposed (x @ W); stops unless they are square, and is wrong then
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh((query @ W_q)[:, :, None] + (key @ W_k)[:, None])
    w = torch.softmax(hidden @ w_v, dim=-1)
    return w @ value, w

# %% wrong: loops over the queries, which takes too many operations where there are many
def additive_attention(query, key, value, W_q, W_k, w_v):
    k = torch.einsum("bkd,hd->bkh", key, W_k)
    rows = []
    for i in range(query.shape[1]):
        q = torch.einsum("bd,hd->bh", query[:, i], W_q)
        score = torch.einsum("bkh,h->bk", torch.tanh(q.unsqueeze(1) + k), w_v)
        rows.append(torch.softmax(score, dim=1))
    weights = torch.stack(rows, dim=1)
    return torch.einsum("bqk,bkv->bqv", weights, value), weights

# %% wrong: query and key are put side by side for every pair and go through one joint matrix, which holds a vector for every pair
def additive_attention(query, key, value, W_q, W_k, w_v):
    L_q, L_k = query.shape[1], key.shape[1]
    pairs = torch.cat((query.unsqueeze(2).expand(-1, -1, L_k, -1), key.unsqueeze(1).expand(-1, L_q, -1, -1)), dim=-1)
    hidden = torch.nn.functional.linear(pairs, torch.cat((W_q, W_k), dim=1)).tanh()
    weights = torch.nn.functional.linear(hidden, w_v.unsqueeze(0)).squeeze(-1).softmax(-1)
    return torch.einsum("bqk,bkv->bqv", weights, value), weights

# %% wrong: scores made one key at a time, which takes too many operations where there are many
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = torch.einsum("bid,hd->bih", query, W_q)
    columns = [torch.tanh(q + (W_k @ k.T).T[:, None]) @ w_v for k in key.unbind(1)]
    weights = torch.stack(columns, dim=2).softmax(dim=2)
    return torch.einsum("bij,bjv->biv", weights, value), weights

# %% wrong: all pairs by broadcasting, with a vector of size d_hidden for each
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh((query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None])
    weights = torch.softmax(hidden @ w_v, dim=-1)
    return weights @ value, weights

# %% wrong: goes through the hidden units and forgets w_v
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = sum(torch.tanh(a[:, :, None] + b[:, None]) for a, b in zip(q.unbind(-1), k.unbind(-1)))
    weights = scores.softmax(-1)
    return weights @ value, weights

# %% right: goes through the hidden units, each with its own rows of the matrices
def additive_attention(query, key, value, W_q, W_k, w_v):
    scores = torch.zeros(query.shape[0], query.shape[1], key.shape[1], dtype=query.dtype)
    for row_q, row_k, w in zip(W_q, W_k, w_v):
        scores = scores + w * torch.tanh((query @ row_q).unsqueeze(2) + (key @ row_k).unsqueeze(1))
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights, value), weights

# %% right: two hidden units at a time
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    parts = []
    for a, b, w in zip(q.split(2, -1), k.split(2, -1), w_v.split(2)):
        parts.append(torch.tanh(a.unsqueeze(2) + b.unsqueeze(1)) @ w)
    weights = torch.softmax(sum(parts), dim=-1)
    return weights @ value, weights
