# %% setup
import torch

from course_utils.masks import causal_mask

# %% wrong: mends only the keys, the values are still tiled and belong to other heads
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=1)
    v = value.repeat(1, repeats, 1, 1)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ v


# %% wrong: repeats every head exactly twice as in the example, an error or wrong heads for other group sizes
def grouped_attention(query, key, value, mask):
    k = key.repeat_interleave(2, dim=1)
    v = value.repeat_interleave(2, dim=1)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ v


# %% wrong: splits the query heads as (group, H_kv) instead of (H_kv, group), so query head h still meets key/value head h modulo H_kv
def grouped_attention(query, key, value, mask):
    B, H, L_q, d_k = query.shape
    H_kv = key.shape[1]
    q = query.reshape(B, H // H_kv, H_kv, L_q, d_k)
    scores = q @ key[:, None].transpose(-2, -1) / d_k**0.5
    weights = scores.masked_fill(~mask[:, None], float("-inf")).softmax(dim=-1)
    return (weights @ value[:, None]).reshape(B, H, L_q, value.shape[-1])


# %% wrong: divides by the root of the size of the values d_v, which is right only if d_v equals d_k
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=1)
    v = value.repeat_interleave(repeats, dim=1)
    scores = query @ k.transpose(-2, -1) / v.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    return weights @ v


# %% wrong: makes its own causal mask and ignores the mask that it is given
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=1)
    v = value.repeat_interleave(repeats, dim=1)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    causal = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(scores.shape[-1] - scores.shape[-2])
    weights = scores.masked_fill(~causal, float("-inf")).softmax(dim=-1)
    return weights @ v


# %% wrong: masks the scores with 0 instead of minus infinity, so blocked keys still get weight
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=1)
    v = value.repeat_interleave(repeats, dim=1)
    scores = query @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, 0.0).softmax(dim=-1)
    return weights @ v


# %% two mistakes: takes the softmax over the queries (dim -2); and forgets to divide by the root of d_k
def grouped_attention(query, key, value, mask):
    repeats = query.shape[1] // key.shape[1]
    k = key.repeat_interleave(repeats, dim=1)
    v = value.repeat_interleave(repeats, dim=1)
    scores = query @ k.transpose(-2, -1)
    weights = scores.masked_fill(~mask, -1e9).softmax(dim=-2)
    return weights @ v


# %% right: gives the queries a group axis and lets keys and values broadcast, nothing is repeated
def grouped_attention(query, key, value, mask):
    B, H, L_q, d_k = query.shape
    H_kv = key.shape[1]
    q = query.unflatten(1, (H_kv, H // H_kv))  # (B, H_kv, G, L_q, d_k)
    scores = q @ key.unsqueeze(2).mT / d_k**0.5
    weights = scores.masked_fill(~mask.unsqueeze(2), float("-inf")).softmax(dim=-1)
    return (weights @ value.unsqueeze(2)).flatten(1, 2)


# %% right: puts the queries of a group behind each other on the position axis and uses bmm
def grouped_attention(query, key, value, mask):
    B, H, L_q, d_k = query.shape
    H_kv, L_k, d_v = key.shape[1], key.shape[2], value.shape[3]
    G = H // H_kv
    q = query.reshape(B * H_kv, G * L_q, d_k)
    scores = torch.bmm(q, key.reshape(B * H_kv, L_k, d_k).transpose(1, 2)) / d_k**0.5
    blocked = ~mask[0, 0].repeat(G, 1)  # (G * L_q, L_k)
    weights = torch.softmax(scores.masked_fill(blocked, float("-inf")), dim=2)
    return torch.bmm(weights, value.reshape(B * H_kv, L_k, d_v)).reshape(B, H, L_q, d_v)


# %% right: loop over the query heads with einsum and a log-softmax
def grouped_attention(query, key, value, mask):
    per_group = query.shape[1] // key.shape[1]
    outputs = []
    for h in range(query.shape[1]):
        k, v = key[:, h // per_group], value[:, h // per_group]
        scores = torch.einsum("bqd,bkd->bqk", query[:, h], k) * query.shape[-1] ** -0.5
        scores = torch.where(mask[:, 0], scores, float("-inf"))
        outputs.append(torch.einsum("bqk,bkd->bqd", scores.log_softmax(-1).exp(), v))
    return torch.stack(outputs, dim=1)


# %% wrong: named in the review: makes a causal mask of its own and never looks at the one given
def grouped_attention(query, key, value, mask):
    n = query.shape[1] // key.shape[1]
    k, v = key.repeat_interleave(n, dim=1), value.repeat_interleave(n, dim=1)
    scores = query @ k.mT / query.shape[-1] ** 0.5
    own = causal_mask(query.shape[2], key.shape[2])
    return scores.masked_fill(~own, float("-inf")).softmax(dim=-1) @ v
