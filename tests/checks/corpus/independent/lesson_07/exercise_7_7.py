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

# %% right: keeps what the projections made of the inputs, in lists, and joins them all again
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.w, self.h, self.g, self.made = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads, []

    def step(self, x_new):
        q, k, v, o = self.w
        self.made.append((x_new @ k.T, x_new @ v.T))
        b, c = (heads(torch.cat(one, 1), self.g) for one in zip(*self.made))
        return attend(heads(x_new @ q.T, self.h), b, c, bottom_right(x_new.shape[1], b.shape[2])) @ o.T

# %% wrong: keeps the inputs and projects them all to keys and values again
class CachedAttention:
    def __init__(self, W_q, W_k, W_v, W_o, num_heads, num_kv_heads):
        self.w, self.h, self.g, self.x = (W_q, W_k, W_v, W_o), num_heads, num_kv_heads, None

    def step(self, x_new):
        self.x = x_new if self.x is None else torch.cat([self.x, x_new], 1)
        q, k, v, o = self.w
        a, b, c = heads(x_new @ q.T, self.h), heads(self.x @ k.T, self.g), heads(self.x @ v.T, self.g)
        return attend(a, b, c, bottom_right(x_new.shape[1], self.x.shape[1])) @ o.T

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

# %% wrong: divides by the root of d_model
class CachedAttention(Base):
    def step(self, x_new):
        k, v = heads(x_new @ self.k.T, self.g), heads(x_new @ self.v.T, self.g)
        if self.keys is not None:
            k, v = torch.cat([self.keys, k], 2), torch.cat([self.values, v], 2)
        self.keys, self.values = k, v
        q = heads(x_new @ self.q.T, self.h) / self.h**0.5
        return attend(q, k, v, bottom_right(x_new.shape[1], k.shape[2])) @ self.o.T

# %% right: one position at a time inside
class CachedAttention(Base):
    def step(self, x_new):
        out = []
        for t in range(x_new.shape[1]):
            x = x_new[:, t : t + 1]
            k, v = heads(x @ self.k.T, self.g), heads(x @ self.v.T, self.g)
            self.keys = k if self.keys is None else torch.cat([self.keys, k], 2)
            self.values = v if self.values is None else torch.cat([self.values, v], 2)
            out.append(attend(heads(x @ self.q.T, self.h), self.keys, self.values, torch.tensor(True)) @ self.o.T)
        return torch.cat(out, 1)

# %% right: room set aside, group axis
class CachedAttention(Base):
    def step(self, x_new):
        B, L, d = x_new.shape
        if self.keys is None:
            self.n = 0
            self.keys, self.values = x_new.new_zeros(2, B, self.g, 64, d // self.h)
        q, k, v = heads(x_new @ self.q.T, self.h), heads(x_new @ self.k.T, self.g), heads(x_new @ self.v.T, self.g)
        self.keys[:, :, self.n : self.n + L], self.values[:, :, self.n : self.n + L] = k, v
        self.n += L
        q = q.view(B, self.g, -1, L, d // self.h)
        s = q @ self.keys[:, :, None, : self.n].mT / (d // self.h) ** 0.5
        s = s.masked_fill(~bottom_right(L, self.n), float("-inf"))
        y = s.softmax(-1) @ self.values[:, :, None, : self.n]
        return y.flatten(1, 2).transpose(1, 2).flatten(2) @ self.o.T

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

# %% wrong: repeat in place of repeat_interleave
class CachedAttention(Base):
    def step(self, x):
        q, k, v = heads(x @ self.q.T, self.h), heads(x @ self.k.T, self.g), heads(x @ self.v.T, self.g)
        self.keys = k if self.keys is None else torch.cat([self.keys, k], 2)
        self.values = v if self.values is None else torch.cat([self.values, v], 2)
        n = self.h // self.g
        K, V = self.keys.repeat(1, n, 1, 1), self.values.repeat(1, n, 1, 1)
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

# %% two mistakes: newest first, and no output projection
class CachedAttention(Base):
    def step(self, x):
        q, k, v = heads(x @ self.q.T, self.h), heads(x @ self.k.T, self.g), heads(x @ self.v.T, self.g)
        self.keys = k if self.keys is None else torch.cat([k, self.keys], 2)
        self.values = v if self.values is None else torch.cat([v, self.values], 2)
        return attend(q, self.keys, self.values, bottom_right(q.shape[2], self.keys.shape[2]))
