# %% setup
import torch


# %% wrong: fills hidden scores with the smallest score minus 10, so a hidden key keeps a small weight instead of 0
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = torch.where(mask, scores, scores.min() - 10)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% wrong: adds -10000 to the hidden scores instead of replacing them, so a hidden score that lies further than that above the others still wins
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores + (~mask).to(scores.dtype) * -10000.0
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% wrong: computes the softmax in float32 and casts only the output back, so the weights of half-precision or double arguments are float32
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1, dtype=torch.float32)
    return (weights @ value.float()).to(query.dtype), weights


# %% wrong: softmax by hand that subtracts the row maximum over all keys, hidden ones too, so allowed weights become 0 / 0 if a hidden score lies far above
def masked_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask
    weights = e / e.sum(dim=-1, keepdim=True)
    return weights @ value, weights


# %% right: goes through every row, takes the softmax of the allowed scores only and puts the weights back to their places with index_put
def masked_attention(query, key, value, mask):
    B, L_q, d_k = query.shape
    L_k = key.shape[1]
    allowed = torch.broadcast_to(mask, (B, L_q, L_k))
    rows = []
    for b in range(B):
        for i in range(L_q):
            places = allowed[b, i].nonzero()[:, 0]
            w = torch.softmax(key[b, places] @ query[b, i] / d_k**0.5, dim=0)
            rows.append(query.new_zeros(L_k).index_put((places,), w))
    weights = torch.stack(rows).reshape(B, L_q, L_k)
    return torch.bmm(weights, value), weights


# %% right: einsum, hidden scores replaced by 0, and then a bias of 0 and minus infinity that is added to all scores
def masked_attention(query, key, value, mask):
    scores = torch.einsum("bid,bjd->bij", query, key) / query.shape[-1] ** 0.5
    hidden = ~mask.expand_as(scores)
    scores = torch.where(hidden, torch.zeros_like(scores), scores) + torch.zeros_like(scores).masked_fill(hidden, -torch.inf)
    weights = torch.softmax(scores, dim=2)
    return torch.einsum("bij,bjv->biv", weights, value), weights
