# %% setup
import torch

# %% wrong: takes the tanh of the projected query and of the projected key separately and adds them, instead of the tanh of the sum
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = torch.tanh(query @ W_q.T)
    k = torch.tanh(key @ W_k.T)
    scores = (q.unsqueeze(2) + k.unsqueeze(1)) @ w_v
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: builds the scores as (B, L_k, L_q) and then views them as (B, L_q, L_k) instead of transposing, right only when one of the two is 1
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = query @ W_q.T
    k = key @ W_k.T
    scores = torch.tanh(q.unsqueeze(1) + k.unsqueeze(2)) @ w_v
    scores = scores.reshape(query.shape[0], query.shape[1], key.shape[1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: applies the tanh after the product with w_v, to the finished score, instead of before it
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = (query @ W_q.T).unsqueeze(2)
    k = (key @ W_k.T).unsqueeze(1)
    scores = torch.tanh((q + k) @ w_v)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: takes the softmax over the queries (dim=1) instead of over the keys
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh((query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None])
    weights = torch.softmax(hidden @ w_v, dim=1)
    return weights @ value, weights

# %% wrong: divides the scores by the square root of d_hidden, which the formula does not have
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh((query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None])
    scores = hidden @ w_v / len(w_v) ** 0.5
    weights = torch.softmax(scores, dim=-1)
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

# %% right: joins each query with each key and multiplies once by the two matrices side by side
def additive_attention(query, key, value, W_q, W_k, w_v):
    B, L_q, d_q = query.shape
    L_k, d_k = key.shape[1:]
    pairs = torch.cat((query[:, :, None].expand(B, L_q, L_k, d_q), key[:, None].expand(B, L_q, L_k, d_k)), dim=-1)
    both = torch.cat((W_q, W_k), dim=1)
    hidden = torch.nn.functional.linear(pairs, both).tanh()
    weights = (hidden * w_v).sum(dim=-1).softmax(dim=-1)
    return torch.bmm(weights, value), weights

# %% right: loops over the queries and uses einsum everywhere
def additive_attention(query, key, value, W_q, W_k, w_v):
    k = torch.einsum("bkd,hd->bkh", key, W_k)
    rows = []
    for i in range(query.shape[1]):
        q = torch.einsum("bd,hd->bh", query[:, i], W_q)
        score = torch.einsum("bkh,h->bk", torch.tanh(q.unsqueeze(1) + k), w_v)
        rows.append(torch.softmax(score, dim=1))
    weights = torch.stack(rows, dim=1)
    return torch.einsum("bqk,bkv->bqv", weights, value), weights

# %% right: adds up the score over the hidden units one by one, with tanh(x) written as 2 sigmoid(2x) - 1
def additive_attention(query, key, value, W_q, W_k, w_v):
    scores = 0
    for h in range(w_v.shape[0]):
        x = (query @ W_q[h]).unsqueeze(-1) + (key @ W_k[h]).unsqueeze(-2)
        scores = scores + w_v[h] * (2 * torch.sigmoid(2 * x) - 1)
    scores = scores - scores.amax(dim=-1, keepdim=True)
    e = scores.exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return torch.matmul(weights, value), weights


# %% wrong: named in the review: adds the projections without the new axis for the pairs
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh(query @ W_q.T + key @ W_k.T)
    scores = (hidden @ w_v).unsqueeze(1)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
