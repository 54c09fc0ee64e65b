# %% setup
import torch

# %% wrong: adds only one axis to keep, (B, 1, L_k), so the batch stands where the heads should be: right for a batch of 1 only
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    mask = keep.unsqueeze(1)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
    return weights @ value, weights

# %% wrong: the meaning is inverted, the real tokens are hidden instead of the padding
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    mask = keep[:, None, None, :]
    weights = torch.softmax(scores.masked_fill(mask, -1e9), dim=-1)
    return weights @ value, weights

# %% wrong: hides padding on both axes, keys and queries, which needs L_q = L_k and gives padded queries equal weights on everything
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    mask = keep[:, None, None, :] & keep[:, None, :, None]
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
    return weights @ value, weights

# %% wrong: sets the values of the padding to zero instead of hiding the keys, so the weights on the padding stay
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    value = value * keep[:, None, :, None]
    return weights @ value, weights

# %% wrong: uses the padding of the first item for the whole batch
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    mask = keep[0].view(1, 1, 1, -1)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
    return weights @ value, weights

# %% wrong: hides the padding by multiplying its scores with 0 instead of a very low number, so it still gets weight
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores * keep[:, None, None, :]
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% two mistakes: forgets the scale; and zeroes the padding's weights only after the softmax, so rows no longer sum to 1
def attend(query, key, value, keep):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1)
    weights = weights * keep[:, None, None, :]
    return weights @ value, weights

# %% right: item by item, the padding is cut out before the softmax and zeros are put in its place afterwards
def attend(query, key, value, keep):
    B, H, L_q, d_k = query.shape
    all_weights = []
    for b in range(B):
        real = keep[b].nonzero().squeeze(1)
        w = torch.softmax(query[b] @ key[b][:, real].transpose(1, 2) / d_k**0.5, dim=-1)
        full = torch.zeros(H, L_q, key.shape[2], dtype=w.dtype).index_copy(2, real, w)
        all_weights.append(full)
    weights = torch.stack(all_weights)
    return weights @ value, weights

# %% right: einsum, and the mask is made by rearranging keep with view
def attend(query, key, value, keep):
    B, L_k = keep.shape
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / query.shape[-1] ** 0.5
    scores = torch.where(keep.view(B, 1, 1, L_k), scores, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhqk,bhkv->bhqv", weights, value), weights

# %% right: a softmax by hand on scores with an additive bias, heads folded into the batch
def attend(query, key, value, keep):
    B, H, L_q, d_k = query.shape
    q, k, v = query.flatten(0, 1), key.flatten(0, 1), value.flatten(0, 1)
    bias = torch.zeros(keep.shape, dtype=query.dtype).masked_fill(~keep, float("-inf"))
    scores = torch.bmm(q, k.transpose(1, 2)) * d_k**-0.5 + bias.repeat_interleave(H, dim=0).unsqueeze(1)
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = e / e.sum(dim=-1, keepdim=True)
    return torch.bmm(weights, v).unflatten(0, (B, H)), weights.unflatten(0, (B, H))
