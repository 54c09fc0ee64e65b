# %% setup
import math

import torch


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights

# %% wrong: joins all blocks and attends at once, so everything is held
def attention_in_blocks(query, blocks):
    blocks = list(blocks)
    key = torch.cat([k for k, _ in blocks], dim=1)
    value = torch.cat([v for _, v in blocks], dim=1)
    return attention(query, key, value)[0]

# %% wrong: averages the outputs of the blocks
def attention_in_blocks(query, blocks):
    total, count = 0, 0
    for key, value in blocks:
        total = total + attention(query, key, value)[0]
        count += 1
    return total / count

# %% wrong: adds up exponentials without any shift, which overflows
def attention_in_blocks(query, blocks):
    total, output = 0, 0
    for key, value in blocks:
        powers = torch.exp(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5)
        total = total + powers.sum(-1, keepdim=True)
        output = output + powers @ value
    return output / total

# %% setup
import math

import torch
import torch.nn.functional as F


def attention(query, key, value):
    weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights

# %% wrong: the mean of the blocks' outputs, weighted by the number of their keys
def attention_in_blocks(query, blocks):
    mixed, count = 0, 0
    for key, value in blocks:
        mixed = mixed + key.shape[1] * attention(query, key, value)[0]
        count += key.shape[1]
    return mixed / count

# %% two mistakes: no maximum is subtracted, and the keys' number is the scale
def attention_in_blocks(query, blocks):
    total = mixed = 0
    for key, value in blocks:
        e = torch.exp(query @ key.mT / key.shape[1] ** 0.5)
        total, mixed = total + e.sum(-1, keepdim=True), mixed + e @ value
    return mixed / total

# %% two mistakes: the factor upside down, and the last block's sum alone in the division
def attention_in_blocks(query, blocks):
    most, mixed = torch.full((*query.shape[:2], 1), -math.inf), 0
    for key, value in blocks:
        scores = query @ key.mT / query.shape[-1] ** 0.5
        new = torch.maximum(most, scores.amax(-1, keepdim=True))
        e = torch.exp(scores - new)
        factor = torch.where(most.isinf(), 0, torch.exp(new - most))
        mixed, most = mixed * factor + e @ value, new
    return mixed / e.sum(-1, keepdim=True)

# %% right: keeps the normalized output and the logarithm of the sum, joined with logaddexp
def attention_in_blocks(query, blocks):
    size, output = None, None
    for key, value in blocks:
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        new = torch.logsumexp(scores, -1, keepdim=True)
        part = torch.softmax(scores, -1) @ value
        if output is None:
            size, output = new, part
        else:
            both = torch.logaddexp(size, new)
            output = output * (size - both).exp() + part * (new - both).exp()
            size = both
    return output

# %% right: key by key within each block, queries one after another, in plain loops over the batch
def attention_in_blocks(query, blocks):
    B, L_q, d_k = query.shape
    most = query.new_full((B, L_q), -math.inf)
    total = query.new_zeros(B, L_q)
    output = None
    for key, value in blocks:
        if output is None:
            output = query.new_zeros(B, L_q, value.shape[-1])
        for j in range(key.shape[1]):
            score = (query * key[:, j : j + 1]).sum(-1) / d_k**0.5  # (B, L_q)
            new = torch.maximum(most, score)
            old, e = (most - new).exp(), (score - new).exp()
            total = total * old + e
            output = output * old[..., None] + e[..., None] * value[:, j : j + 1]
            most = new
    return output / total[..., None]

# %% setup
import torch

# %% right: keeps a finished (divided) output after every block
def attention_in_blocks(query, blocks):
    done = None
    query = query * query.shape[-1] ** -0.5
    for key, value in blocks:
        scores = query @ key.mT
        top = scores.amax(dim=-1, keepdim=True)
        if done is None:
            done, high, mass = 0.0, top, torch.zeros_like(top)
        top = torch.maximum(top, high)
        e = (scores - top).exp()
        mass = mass * (high - top).exp()
        new_mass = mass + e.sum(dim=-1, keepdim=True)
        done = done * (mass / new_mass) + (e / new_mass) @ value
        high, mass = top, new_mass
    return done

# %% setup
import numpy as np
import torch

# %% wrong: keeps all blocks as arrays of numpy, and attends when the last has come
def attention_in_blocks(query, blocks):
    keys, values = [], []
    for key, value in blocks:
        keys.append(key.numpy().copy())
        values.append(value.numpy().copy())
    q, k, v = query.numpy(), np.concatenate(keys, axis=1), np.concatenate(values, axis=1)
    s = q @ k.swapaxes(1, 2) / q.shape[-1] ** 0.5
    e = np.exp(s - s.max(-1, keepdims=True))
    return torch.from_numpy(e @ v / e.sum(-1, keepdims=True))

# %% wrong: keeps all blocks as lists of numbers
def attention_in_blocks(query, blocks):
    kept = [(key.tolist(), value.tolist()) for key, value in blocks]
    key = torch.cat([torch.tensor(k, dtype=query.dtype) for k, v in kept], dim=1)
    value = torch.cat([torch.tensor(v, dtype=query.dtype) for k, v in kept], dim=1)
    return torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1) @ value

# %% right: in numpy, with a running maximum, and prints what it sees
def attention_in_blocks(query, blocks):
    q, top = query.numpy(), None
    for number, (key, value) in enumerate(blocks):
        print("block", number, key.shape)
        s = q @ key.numpy().swapaxes(1, 2) / q.shape[-1] ** 0.5
        if top is None:
            top, total, mixed = np.full_like(s[..., :1], -np.inf), 0.0, 0.0
        new = np.maximum(top, s.max(-1, keepdims=True))
        e = np.exp(s - new)
        total = total * np.exp(top - new) + e.sum(-1, keepdims=True)
        mixed = mixed * np.exp(top - new) + e @ value.numpy()
        top = new
    return torch.from_numpy(mixed / total)
