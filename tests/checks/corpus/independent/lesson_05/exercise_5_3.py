# %% setup
import torch

# %% wrong: fills hidden scores with -1e9, which float16 cannot hold, so half precision stops with an error
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores.masked_fill(~mask, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: fills hidden scores with -1e4, which is more than the other scores when these are near -100000, so the hidden keys win
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores.masked_fill(~mask, -1e4)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: adds the inverted mask times minus infinity, so that 0 times infinity makes NaN at the visible keys
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores + (~mask) * float("-inf")
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: sets the hidden scores by indexing with the mask, which works only if the mask already has the full shape of the scores
def masked_attention(query, key, value, mask):
    d_k = query.shape[-1]
    scores = torch.bmm(query, key.transpose(1, 2)) / d_k**0.5
    scores[~mask] = float("-inf")
    weights = scores.softmax(dim=-1)
    return torch.bmm(weights, value), weights

# %% wrong: computes in float32 and returns float32, whatever the dtype of the query
def masked_attention(query, key, value, mask):
    query, key, value = query.float(), key.float(), value.float()
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights @ value, weights

# %% wrong: masks after the softmax and divides each row by its sum, which is 0/0 when the hidden keys have by far the highest scores
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1) * mask
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% two mistakes: sets the weights of hidden keys to 0 after the softmax without renormalizing; and forgets the scale
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ value, weights

# %% right: adds the logarithm of the mask, 0 or minus infinity, in the dtype of the query
def masked_attention(query, key, value, mask):
    bias = mask.to(query.dtype).log()
    scores = torch.einsum("bqd,bkd->bqk", query, key) * query.shape[-1] ** -0.5
    weights = torch.softmax(scores + bias, dim=-1)
    return torch.einsum("bqk,bkv->bqv", weights, value), weights

# %% right: a softmax by hand with the maximum over the visible keys, torch.where in place of masked_fill
def masked_attention(query, key, value, mask):
    scores = (query / query.shape[-1] ** 0.5) @ key.mT
    scores = torch.where(mask, scores, float("-inf"))
    e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ value, weights

# %% right: loops over items and queries and looks at the visible keys only, the others stay 0
def masked_attention(query, key, value, mask):
    B, L_q, d_k = query.shape
    L_k = key.shape[1]
    mask = torch.broadcast_to(mask, (B, L_q, L_k))
    weights = query.new_zeros(B, L_q, L_k)
    for b in range(B):
        for i in range(L_q):
            visible = mask[b, i].nonzero().flatten()
            weights[b, i, visible] = torch.softmax(key[b, visible] @ query[b, i] / d_k**0.5, dim=0)
    return weights @ value, weights


# %% wrong: named in the review: fills hidden scores with the smallest score minus 10
def masked_attention(query, key, value, mask):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~mask, (scores.min() - 10).item()), dim=-1)
    return weights @ value, weights
