# %% setup
import math

import torch

# %% two mistakes: takes the softmax over the queries (dim=1) instead of over the keys; and makes a vector for every pair
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

# %% wrong: adds the projections without the new axis for the pairs
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh(query @ W_q.T + key @ W_k.T)
    scores = (hidden @ w_v).unsqueeze(1)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% two mistakes: W_q and W_k are used through .data, so no gradient reaches them; and a vector for every pair
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = query @ W_q.data.T
    k = key @ W_k.data.T
    weights = torch.softmax(torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)) @ w_v, dim=-1)
    return torch.bmm(weights, value), weights

# %% two mistakes: no tanh; and a vector for every pair
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = (query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None]
    w = torch.softmax(hidden @ w_v, dim=-1)
    return w @ value, w

# %% two mistakes: matrices not transposed (x @ W), which stops unless they are square and is wrong then; and a vector for every pair
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh((query @ W_q)[:, :, None] + (key @ W_k)[:, None])
    w = torch.softmax(hidden @ w_v, dim=-1)
    return w @ value, w

# %% wrong: right numbers by broadcasting, but makes a vector for every pair
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = query @ W_q.T
    k = key @ W_k.T
    scores = torch.tanh(q[:, :, None, :] + k[:, None, :, :]) @ w_v
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: right numbers, but loops over the queries
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = query @ W_q.T
    k = key @ W_k.T
    rows = []
    for i in range(q.shape[1]):
        rows.append(torch.tanh(q[:, i : i + 1] + k) @ w_v)
    weights = torch.softmax(torch.stack(rows, dim=1), dim=-1)
    return weights @ value, weights

# %% wrong: right numbers, but loops over the batch, with all vectors of one item
def additive_attention(query, key, value, W_q, W_k, w_v):
    scores = []
    for b in range(query.shape[0]):
        q, k = query[b] @ W_q.T, key[b] @ W_k.T
        scores.append(torch.tanh(q[:, None] + k[None]) @ w_v)
    weights = torch.stack(scores).softmax(-1)
    return weights @ value, weights

# %% wrong: forgets the tanh, so all queries get the same weights
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h in range(w_v.shape[0]):
        scores = scores + w_v[h] * (q[:, :, None, h] + k[:, None, :, h])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: tanh of the whole score, instead of tanh of each hidden unit
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = query @ W_q.T @ w_v
    k = key @ W_k.T @ w_v
    scores = torch.tanh(q[:, :, None] + k[:, None, :])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: multiplies by w_v inside the tanh, unit by unit
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h, w in enumerate(w_v):
        scores = scores + torch.tanh(w * (q[:, :, None, h] + k[:, None, :, h]))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: softmax over the queries instead of over the keys
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h, w in enumerate(w_v):
        scores = scores + w * torch.tanh(q[:, :, None, h] + k[:, None, :, h])
    weights = torch.softmax(scores, dim=1)
    return weights @ value, weights

# %% wrong: forgets w_v, every hidden unit counts 1
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h in range(len(w_v)):
        scores = scores + torch.tanh(q[:, :, None, h] + k[:, None, :, h])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: multiplies by the matrices without transposing them
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q, key @ W_k
    scores = 0
    for h, w in enumerate(w_v):
        scores = scores + w * torch.tanh(q[:, :, None, h] + k[:, None, :, h])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: divides the scores by the root of d_hidden
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h, w in enumerate(w_v):
        scores = scores + w * torch.tanh(q[:, :, None, h] + k[:, None, :, h])
    weights = torch.softmax(scores / math.sqrt(len(w_v)), dim=-1)
    return weights @ value, weights

# %% wrong: tanh of query and key separately, added afterwards, which saves the pairs but isn't the score
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = torch.tanh(query @ W_q.T) @ w_v
    k = torch.tanh(key @ W_k.T) @ w_v
    scores = q[:, :, None] + k[:, None, :]
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: loops over the hidden units, but stacks all their tables before it sums them
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    terms = [
        w_v[h] * torch.tanh(q[:, :, h].unsqueeze(2) + k[:, :, h].unsqueeze(1))
        for h in range(W_q.shape[0])
    ]
    weights = torch.softmax(torch.stack(terms).sum(dim=0), dim=-1)
    return weights @ value, weights

# %% wrong: adds in place into float32 zeros, so float64 arguments lose their dtype
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = torch.zeros(query.shape[0], query.shape[1], key.shape[1])
    for h in range(len(w_v)):
        scores += w_v[h] * torch.tanh(q[:, :, None, h] + k[:, None, :, h])
    weights = torch.softmax(scores, dim=-1).to(value.dtype)
    return weights @ value, weights

# %% wrong: takes w_v as plain numbers, so no gradient reaches w_v
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h, w in enumerate(w_v.tolist()):
        scores = scores + w * torch.tanh(q[:, :, None, h] + k[:, None, :, h])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: four hidden units at a time, four times as many numbers as there are weights
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h in range(0, len(w_v), 4):
        pairs = torch.tanh(q[:, :, None, h : h + 4] + k[:, None, :, h : h + 4])
        scores = scores + pairs @ w_v[h : h + 4]
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: loops over the size of a query instead of over the hidden units
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h in range(query.shape[-1]):
        scores = scores + w_v[h] * torch.tanh(q[:, :, None, h] + k[:, None, :, h])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: returns the scores in place of the weights; the output is right
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h, w in enumerate(w_v):
        scores = scores + w * torch.tanh(q[:, :, None, h] + k[:, None, :, h])
    return torch.softmax(scores, dim=-1) @ value, scores

# %% wrong: returns weights and output in the wrong order
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h, w in enumerate(w_v):
        scores = scores + w * torch.tanh(q[:, :, None, h] + k[:, None, :, h])
    weights = torch.softmax(scores, dim=-1)
    return weights, weights @ value

# %% wrong: right numbers, but a loop over queries and keys, one pair at a time
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = query.new_zeros(q.shape[0], q.shape[1], k.shape[1])
    for i in range(q.shape[1]):
        for j in range(k.shape[1]):
            scores[:, i, j] = torch.tanh(q[:, i] + k[:, j]) @ w_v
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: the query axis and the key axis of the pairs exchanged
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = 0
    for h, w in enumerate(w_v):
        scores = scores + w * torch.tanh(q[:, None, :, h] + k[:, :, None, h])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% two mistakes: no tanh; and softmax over the queries
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = (query @ W_q.T) @ w_v, (key @ W_k.T) @ w_v
    weights = torch.softmax(q[:, :, None] + k[:, None, :], dim=1)
    return weights @ value, weights

# %% two mistakes: makes a vector for every pair; and divides the scores by the root of d_hidden
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)) @ w_v / len(w_v) ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% right: two hidden units at a time, exactly twice as many numbers as there are weights
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query @ W_q.T, key @ W_k.T
    scores = query.new_zeros(())
    for h in range(0, len(w_v), 2):
        two = torch.tanh(q[:, :, None, h : h + 2] + k[:, None, :, h : h + 2])
        scores = scores + (two @ w_v[h : h + 2])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% right: each unit projected inside the loop, Python's sum over a generator
def additive_attention(query, key, value, W_q, W_k, w_v):
    units = zip(W_q, W_k, w_v)
    scores = sum(
        w * torch.tanh((query @ a).unsqueeze(-1) + (key @ b).unsqueeze(-2))
        for a, b, w in units
    )
    weights = scores.softmax(-1)
    return torch.einsum("bij,bjd->bid", weights, value), weights

# %% right: all sums of pairs by a matrix product with columns of ones, added in place
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = torch.einsum("bid,hd->hbi", query, W_q), torch.einsum("bjd,hd->hbj", key, W_k)
    scores = torch.zeros(query.shape[0], query.shape[1], key.shape[1], dtype=query.dtype)
    for h in range(q.shape[0]):
        left = torch.stack([q[h], torch.ones_like(q[h])], dim=-1)
        right = torch.stack([torch.ones_like(k[h]), k[h]], dim=-2)
        scores.add_(torch.bmm(left, right).tanh() * w_v[h])
    weights = torch.softmax(scores, dim=2)
    return torch.bmm(weights, value), weights

# %% right: tanh from a sigmoid, and the softmax written out with the maximum taken off
def additive_attention(query, key, value, W_q, W_k, w_v):
    q, k = query.matmul(W_q.mT), key.matmul(W_k.mT)
    scores = None
    for q_h, k_h, w in zip(q.unbind(-1), k.unbind(-1), w_v.unbind()):
        term = w * (2 * torch.sigmoid(2 * (q_h[:, :, None] + k_h[:, None, :])) - 1)
        scores = term if scores is None else scores + term
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ value, weights
