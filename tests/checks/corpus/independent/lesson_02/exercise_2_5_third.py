# %% setup
import torch
import torch.nn.functional as F


# %% wrong: brings W_q and W_k into the shape (in, out) by a reshape instead of a transpose, which scrambles them
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = query @ W_q.reshape(W_q.shape[1], W_q.shape[0])
    k = key @ W_k.reshape(W_k.shape[1], W_k.shape[0])
    scores = torch.tanh(q[:, :, None] + k[:, None]) @ w_v
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% wrong: repeats the list of queries once for each key, so the pairs run keys first, and views the scores as (B, L_q, L_k) all the same
def additive_attention(query, key, value, W_q, W_k, w_v):
    B, L_q, L_k = query.shape[0], query.shape[1], key.shape[1]
    q = (query @ W_q.T).repeat(1, L_k, 1)
    k = (key @ W_k.T).repeat_interleave(L_q, dim=1)
    scores = (torch.tanh(q + k) @ w_v).view(B, L_q, L_k)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% wrong: takes the tanh of query and key apart and adds afterwards, so all queries get the same weights
def additive_attention(query, key, value, W_q, W_k, w_v):
    q = torch.tanh(query @ W_q.T)
    k = torch.tanh(key @ W_k.T)
    scores = (q.unsqueeze(2) + k.unsqueeze(1)) @ w_v
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% wrong: writes the scores into 32-bit zeros, so with 64-bit arguments the weights are 32-bit
def additive_attention(query, key, value, W_q, W_k, w_v):
    B, L_q, L_k = query.shape[0], query.shape[1], key.shape[1]
    scores = torch.zeros(B, L_q, L_k)
    for i in range(L_q):
        for j in range(L_k):
            scores[:, i, j] = torch.tanh(query[:, i] @ W_q.T + key[:, j] @ W_k.T) @ w_v
    weights = torch.softmax(scores, dim=-1)
    return (weights[..., None] * value[:, None]).sum(dim=2), weights


# %% right: joins query and key of each pair, and the two matrices, into one linear map
def additive_attention(query, key, value, W_q, W_k, w_v):
    L_q, L_k = query.shape[1], key.shape[1]
    pairs = torch.cat((query[:, :, None].expand(-1, -1, L_k, -1), key[:, None].expand(-1, L_q, -1, -1)), dim=-1)
    hidden = F.linear(pairs, torch.cat((W_q, W_k), dim=1)).tanh()
    weights = torch.softmax(F.linear(hidden, w_v[None]).squeeze(-1), dim=-1)
    return torch.einsum("bij,bje->bie", weights, value), weights


# %% right: adds up the score hidden unit by hidden unit
def additive_attention(query, key, value, W_q, W_k, w_v):
    scores = 0
    for row_q, row_k, factor in zip(W_q, W_k, w_v):
        q = torch.einsum("bid,d->bi", query, row_q)
        k = torch.einsum("bjd,d->bj", key, row_k)
        scores = scores + factor * torch.tanh(q[:, :, None] + k[:, None, :])
    weights = scores.softmax(2)
    return torch.bmm(weights, value), weights
