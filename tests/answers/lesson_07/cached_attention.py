# %% setup
import torch


def heads(x, n):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


def attend(q, k, v, mask):
    n = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(n, 1), v.repeat_interleave(n, 1)
    s = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)


def bottom_right(n, m):
    return torch.ones(n, m).tril(m - n).bool()


class Base:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.q, self.k, self.v, self.o, self.h, self.g = W_q, W_k, W_v, W_o, num_heads, num_kv_heads
        self.keys = self.values = None

# %% wrong: no mask, since there is one new position
class CachedAttention(Base):
    def step(self, x):
        q, k, v = heads(x @ self.q.T, self.h), heads(x @ self.k.T, self.g), heads(x @ self.v.T, self.g)
        self.keys = k if self.keys is None else torch.cat([self.keys, k], 2)
        self.values = v if self.values is None else torch.cat([self.values, v], 2)
        return attend(q, self.keys, self.values, torch.tensor(True)) @ self.o.T

# %% wrong: mask aligned top-left
class CachedAttention(Base):
    def step(self, x):
        q, k, v = heads(x @ self.q.T, self.h), heads(x @ self.k.T, self.g), heads(x @ self.v.T, self.g)
        self.keys = k if self.keys is None else torch.cat([self.keys, k], 2)
        self.values = v if self.values is None else torch.cat([self.values, v], 2)
        return attend(q, self.keys, self.values, torch.ones(q.shape[2], self.keys.shape[2]).tril().bool()) @ self.o.T

# %% wrong: keys joined along the batch's heads
class CachedAttention(Base):
    def step(self, x):
        q, k, v = heads(x @ self.q.T, self.h), heads(x @ self.k.T, self.g), heads(x @ self.v.T, self.g)
        self.keys = k if self.keys is None else torch.cat([self.keys, k], 1)
        self.values = v if self.values is None else torch.cat([self.values, v], 1)
        return attend(q, self.keys, self.values, bottom_right(q.shape[2], self.keys.shape[2])) @ self.o.T

# %% wrong: keys kept, values of the new piece only
class CachedAttention(Base):
    def step(self, x):
        q, k, v = heads(x @ self.q.T, self.h), heads(x @ self.k.T, self.g), heads(x @ self.v.T, self.g)
        self.keys = k if self.keys is None else torch.cat([self.keys, k], 2)
        return attend(q, self.keys, v, bottom_right(q.shape[2], self.keys.shape[2])) @ self.o.T

# %% wrong: forgets after the second step
class CachedAttention(Base):
    def step(self, x):
        q, k, v = heads(x @ self.q.T, self.h), heads(x @ self.k.T, self.g), heads(x @ self.v.T, self.g)
        K = k if self.keys is None else torch.cat([self.keys, k], 2)
        V = v if self.values is None else torch.cat([self.values, v], 2)
        self.keys, self.values = k, v
        return attend(q, K, V, bottom_right(q.shape[2], K.shape[2])) @ self.o.T

# %% wrong: the lists of the class are shared by all layers
class CachedAttention(Base):
    kept = []

    def step(self, x):
        q, k, v = heads(x @ self.q.T, self.h), heads(x @ self.k.T, self.g), heads(x @ self.v.T, self.g)
        self.kept.append((k, v))
        K, V = (torch.cat(part, 2) for part in zip(*self.kept))
        return attend(q, K, V, bottom_right(q.shape[2], K.shape[2])) @ self.o.T

# %% two mistakes: no mask and no scaling
class CachedAttention(Base):
    def step(self, x):
        q, k, v = heads(x @ self.q.T, self.h), heads(x @ self.k.T, self.g), heads(x @ self.v.T, self.g)
        self.keys = k if self.keys is None else torch.cat([self.keys, k], 2)
        self.values = v if self.values is None else torch.cat([self.values, v], 2)
        return attend(q * q.shape[-1] ** 0.5, self.keys, self.values, torch.tensor(True)) @ self.o.T

# %% right: keeps what the projections made of the inputs, in lists, and joins them all again
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.w, self.h, self.g, self.made = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads, []

    def step(self, x_new):
        q, k, v, o = self.w
        self.made.append((x_new @ k.T, x_new @ v.T))
        b, c = (heads(torch.cat(one, 1), self.g) for one in zip(*self.made))
        return attend(heads(x_new @ q.T, self.h), b, c, bottom_right(x_new.shape[1], b.shape[2])) @ o.T

# %% right: a room of 256 places, and attention over all of them
class CachedAttention(Base):
    def step(self, x_new):
        B, L, d = x_new.shape
        k, v = heads(x_new @ self.k.T, self.g), heads(x_new @ self.v.T, self.g)
        if self.keys is None:
            self.keys, self.values, self.at = torch.zeros(B, self.g, 256, k.shape[3]), torch.zeros(B, self.g, 256, k.shape[3]), 0
        self.keys[:, :, self.at : self.at + L], self.values[:, :, self.at : self.at + L] = k, v
        mask = torch.arange(256) <= (self.at + torch.arange(L))[:, None]
        self.at += L
        return attend(heads(x_new @ self.q.T, self.h), self.keys, self.values, mask) @ self.o.T

# %% setup
import torch

from course_utils.masks import causal_mask


class Cache:
    def __init__(self, batch_size, num_kv_heads, max_len, d_head):
        self.max_len = max_len
        shape = (batch_size, num_kv_heads, max_len, d_head)
        self.keys, self.values, self.length = torch.zeros(shape), torch.zeros(shape), 0

    def update(self, key, value):
        end = self.length + key.shape[2]
        if end > self.max_len:
            raise ValueError("full")
        self.keys[:, :, self.length : end], self.values[:, :, self.length : end] = key, value
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]


def grouped_attention(query, key, value, mask):
    B, H, L_q, d_k = query.shape
    q = query.reshape(B, key.shape[1], -1, L_q, d_k)
    s = (q @ key[:, :, None].mT / d_k**0.5).masked_fill(~mask[:, :, None], float("-inf"))
    return (s.softmax(-1) @ value[:, :, None]).reshape(B, H, L_q, -1)


def split(y, n):
    return y.view(*y.shape[:2], n, -1).transpose(1, 2)


def merge(y):
    return y.transpose(1, 2).flatten(2)

# %% right: the own cache of 7.2, made at the first step, when the batch is known; no gradients
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.W, self.H, self.J, self.cache = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads, None

    @torch.no_grad()
    def step(self, x_new):
        W_q, W_k, W_v, W_o = self.W
        if self.cache is None:
            self.cache = Cache(len(x_new), self.J, 16, x_new.shape[2] // self.H)
        keys, values = self.cache.update(split(x_new @ W_k.T, self.J), split(x_new @ W_v.T, self.J))
        mask = causal_mask(x_new.shape[1], self.cache.length)
        return merge(grouped_attention(split(x_new @ W_q.T, self.H), keys, values, mask)) @ W_o.T

# %% setup
import numpy as np
import torch


def attend(q, k, v, H, J):
    B, n, d_model = q.shape
    L, d = k.shape[1], d_model // H
    q = q.reshape(B, n, H, d).swapaxes(1, 2)
    k, v = (y.reshape(B, L, J, d).swapaxes(1, 2).repeat(H // J, axis=1) for y in (k, v))
    s = np.where(np.tri(n, L, L - n) > 0, q @ k.swapaxes(2, 3) / d**0.5, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(B, n, d_model)

# %% wrong: numpy, and no cache: it keeps the text, and projects all of it to keys and values in every step
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.W = [W.numpy().astype(np.float64).T for W in (W_q, W_k, W_v, W_o)]
        self.heads, self.text = (num_heads, num_kv_heads), []

    def step(self, x_new):
        self.text.append(x_new.numpy().astype(np.float64))
        text, (q, k, v, o) = np.concatenate(self.text, axis=1), self.W
        return torch.tensor(attend(self.text[-1] @ q, text @ k, text @ v, *self.heads) @ o).float()

# %% right: numpy, keys and values of each step in lists
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.W = [W.numpy().astype(np.float64).T for W in (W_q, W_k, W_v, W_o)]
        self.heads, self.keys, self.values = (num_heads, num_kv_heads), [], []

    def step(self, x_new):
        x, (q, k, v, o) = x_new.numpy().astype(np.float64), self.W
        self.keys.append(x @ k)
        self.values.append(x @ v)
        keys, values = (np.concatenate(y, axis=1) for y in (self.keys, self.values))
        return torch.tensor(attend(x @ q, keys, values, *self.heads) @ o).float()
