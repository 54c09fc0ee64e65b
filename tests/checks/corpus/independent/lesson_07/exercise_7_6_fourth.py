# %% setup
import torch


# %% right: the axes are exchanged on the way in and back on the way out
def grouped_attention(query, key, value, mask):
    B, H, L, d = query.shape
    j = key.shape[1]
    q = query.view(B, j, H // j, L, d).transpose(1, 2)
    s = q @ key[:, None].mT / d**0.5
    w = s.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
    return (w @ value[:, None]).transpose(1, 2).flatten(1, 2)


# %% right: one shared head at a time, its queries together
def grouped_attention(query, key, value, mask):
    found = []
    for q, k, v in zip(query.chunk(key.shape[1], dim=1), key.unbind(1), value.unbind(1)):
        s = (q @ k[:, None].mT) * query.shape[-1] ** -0.5
        found.append(s.masked_fill(mask.logical_not(), -torch.inf).softmax(-1) @ v[:, None])
    return torch.cat(found, dim=1)


# %% wrong: the axes are exchanged on the way in and not back on the way out
def grouped_attention(query, key, value, mask):
    B, H, L, d = query.shape
    j = key.shape[1]
    q = query.reshape(B, j, H // j, L, d).transpose(1, 2)
    s = q @ key[:, None].mT / d**0.5
    w = s.masked_fill(~mask[:, None], float("-inf")).softmax(-1)
    return (w @ value[:, None]).reshape(B, H, L, value.shape[-1])


# %% wrong: turns the keys and values around, which mends the cell with two groups and nothing else
def grouped_attention(query, key, value, mask):
    B, H, L, d = query.shape
    j = key.shape[1]
    q = query.reshape(B, H // j, j, L, d)
    s = q @ key.flip(1)[:, None].mT / d**0.5
    w = s.masked_fill(~mask[:, None], float("-inf")).softmax(-1)
    return (w @ value.flip(1)[:, None]).reshape(B, H, L, value.shape[-1])


# %% wrong: the group is right for keys, the values still broadcast over the other axis (an error unless both are equal)
def grouped_attention(query, key, value, mask):
    B, H, L, d = query.shape
    j = key.shape[1]
    q = query.reshape(B, j, H // j, L, d)
    s = q @ key[:, :, None].mT / d**0.5
    w = s.masked_fill(~mask[:, None], float("-inf")).softmax(-1)
    return (w @ value[:, None]).reshape(B, H, L, value.shape[-1])
