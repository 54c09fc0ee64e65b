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


# %% right: a module that keeps the projected text, queries too, attends with all of it and projects its end
class CachedAttention(torch.nn.Module):
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        super().__init__()
        self.W, self.H, self.J, self.kept = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads, None

    def step(self, x_new):
        new = [x_new @ W.T for W in self.W[:3]]
        self.kept = new if self.kept is None else [torch.cat(pair, 1) for pair in zip(self.kept, new)]
        q, k, v = (split(y, n) for y, n in zip(self.kept, (self.H, self.J, self.J)))
        L = q.shape[2]
        return merge(grouped_attention(q, k, v, causal_mask(L, L)))[:, -x_new.shape[1] :] @ self.W[3].T


# %% wrong: a module that keeps the text, computes all of it again and gives back its end
class CachedAttention(torch.nn.Module):
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        super().__init__()
        self.W, self.H, self.J, self.x = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads, None

    def step(self, x_new):
        self.x = x_new.clone() if self.x is None else torch.cat([self.x, x_new], 1)
        q, k, v, o = self.W
        q, k, v = split(self.x @ q.T, self.H), split(self.x @ k.T, self.J), split(self.x @ v.T, self.J)
        L = self.x.shape[1]
        return (merge(grouped_attention(q, k, v, causal_mask(L, L))) @ o.T)[:, -x_new.shape[1] :]


# %% wrong: the mask covers the new positions only, which goes well for the first piece and for single positions
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.W, self.H, self.J, self.kv = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads, None

    def step(self, x_new):
        q, k, v = split(x_new @ self.W[0].T, self.H), split(x_new @ self.W[1].T, self.J), split(x_new @ self.W[2].T, self.J)
        if self.kv is not None:
            k, v = torch.cat([self.kv[0], k], 2), torch.cat([self.kv[1], v], 2)
        self.kv = k, v
        return merge(grouped_attention(q, k, v, causal_mask(x_new.shape[1], x_new.shape[1]))) @ self.W[3].T


# %% wrong: gives back the outputs of all positions so far
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.W, self.H, self.J, self.x = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads, None

    def step(self, x_new):
        self.x = x_new if self.x is None else torch.cat([self.x, x_new], 1)
        L = self.x.shape[1]
        q, k, v, o = self.W
        q, k, v = split(self.x @ q.T, self.H), split(self.x @ k.T, self.J), split(self.x @ v.T, self.J)
        return merge(grouped_attention(q, k, v, causal_mask(L, L))) @ o.T


# %% wrong: forgets the output projection
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.W, self.H, self.J, self.kv = (W_q, W_k, W_v), num_heads, num_kv_heads, None

    def step(self, x_new):
        q, k, v = (split(x_new @ W.T, n) for W, n in zip(self.W, (self.H, self.J, self.J)))
        if self.kv is not None:
            k, v = torch.cat([self.kv[0], k], 2), torch.cat([self.kv[1], v], 2)
        self.kv = k, v
        return merge(grouped_attention(q, k, v, causal_mask(q.shape[2], k.shape[2])))


# %% wrong: keeps the last piece only, in place of all
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.W, self.H, self.J = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads

    def step(self, x_new):
        q, k, v = (split(x_new @ W.T, n) for W, n in zip(self.W, (self.H, self.J, self.J)))
        return merge(grouped_attention(q, k, v, causal_mask(q.shape[2], k.shape[2]))) @ self.W[3].T


# %% wrong: keeps the keys but joins the new values in front of the old ones
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.W, self.H, self.J, self.kv = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads, None

    def step(self, x_new):
        q, k, v = (split(x_new @ W.T, n) for W, n in zip(self.W, (self.H, self.J, self.J)))
        if self.kv is not None:
            k, v = torch.cat([self.kv[0], k], 2), torch.cat([v, self.kv[1]], 2)
        self.kv = k, v
        return merge(grouped_attention(q, k, v, causal_mask(q.shape[2], k.shape[2]))) @ self.W[3].T


# %% two mistakes: no causal mask, and the scores are not divided
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.W, self.H, self.J, self.kv = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads, None

    def step(self, x_new):
        q, k, v = (split(x_new @ W.T, n) for W, n in zip(self.W, (self.H, self.J, self.J)))
        if self.kv is not None:
            k, v = torch.cat([self.kv[0], k], 2), torch.cat([self.kv[1], v], 2)
        self.kv = k, v
        k, v = (t.repeat_interleave(self.H // self.J, 1) for t in (k, v))
        return merge((q @ k.mT).softmax(-1) @ v) @ self.W[3].T
