# %% setup
import torch

# %% wrong: tanh is applied to the query part and the key part separately and the two are added afterwards
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh(query @ W_q.T).unsqueeze(2) + torch.tanh(key @ W_k.T).unsqueeze(1)
    weights = torch.softmax(hidden @ w_v, dim=-1)
    return weights @ value, weights

# %% wrong: the queries are repeated as a whole (repeat) instead of one by one (repeat_interleave), so queries and keys are paired wrongly unless the sizes happen to fit, as with one query
def additive_attention(query, key, value, W_q, W_k, w_v):
    B, L_q, _ = query.shape
    L_k = key.shape[1]
    q = (query @ W_q.T).repeat(1, L_k, 1)
    k = (key @ W_k.T).repeat(1, L_q, 1)
    scores = (torch.tanh(q + k) @ w_v).view(B, L_q, L_k)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: the scores are divided by the square root of d_hidden, as in scaled dot-product attention
def additive_attention(query, key, value, W_q, W_k, w_v):
    hidden = torch.tanh((query @ W_q.T)[:, :, None] + (key @ W_k.T)[:, None])
    scores = hidden @ w_v / w_v.shape[0] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: W_q and W_k are used through .data, so no gradient reaches them
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = query @ W_q.data.T
    k = key @ W_k.data.T
    weights = torch.softmax(torch.tanh(q.unsqueeze(2) + k.unsqueeze(1)) @ w_v, dim=-1)
    return torch.bmm(weights, value), weights

# %% right: one query position at a time
def additive_attention(query, key, value, W_q, W_k, w_v):
    projected = torch.einsum("hd,bkd->bkh", W_k, key)
    outputs, rows = [], []
    for i in range(query.shape[1]):
        q = torch.einsum("hd,bd->bh", W_q, query[:, i])
        scores = (torch.tanh(projected + q[:, None]) * w_v).sum(-1)
        row = torch.softmax(scores, dim=1)
        rows.append(row)
        outputs.append((row.unsqueeze(-1) * value).sum(1))
    return torch.stack(outputs, 1), torch.stack(rows, 1)

# %% right: query and key are put side by side and go through one joint matrix [W_q W_k]
def additive_attention(query, key, value, W_q, W_k, w_v):
    L_q, L_k = query.shape[1], key.shape[1]
    pairs = torch.cat((query.unsqueeze(2).expand(-1, -1, L_k, -1), key.unsqueeze(1).expand(-1, L_q, -1, -1)), dim=-1)
    hidden = torch.nn.functional.linear(pairs, torch.cat((W_q, W_k), dim=1)).tanh()
    weights = torch.nn.functional.linear(hidden, w_v.unsqueeze(0)).squeeze(-1).softmax(-1)
    return torch.einsum("bqk,bkv->bqv", weights, value), weights
